#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# stale.pl: reports comments of the C sources that name a function, variable or file that does not exist (`old_name`): the
# code has changed, and the comment has not.  A name is two or more words joined by _.  It exists if some text of the tree
# other than a comment has it.  Exit status 1 if there is anything to report.
use strict;
use warnings;

my %foreign = ( # names of other projects and of examples
    cl_device_affinity_domain => 'OpenCL', hwloc_get_cpubind => 'hwloc',
    negative_create_command_queue => 'the OpenCL conformance suite', negative_queue => 'the same', test_device_set => 'the same',
    device_partition => 'the same', test_conformance => 'the same', test_partition => 'the same', parallel_pipeline => 'oneTBB', pipe_tokentype => 'Bison',
    read_x => 'the example in pipert.h', write_y => 'the example in pipert.h', low_pass => 'the example in lint_style.c',
    width_of_zero_is_zero => 'the example in test.h', test_disp => 'the example in test.h',
);
my $folders = join ' ', grep { -d } qw(base core model compiler runtime tools lang scripts tests);
my @files = sort split /\n/, `find $folders -type f`;
my (%known, %text_of);
for my $path (@files) {
    my ($name) = $path =~ m{([^/]+)\z};
    $known{$name =~ s/\..*//r} = 1;
    next if $path !~ /\.(?:[chly]|def|sh|py|pl|pml|pipe|md)\z/;
    open my $file, '<', $path or die "stale.pl: $path: $!\n";
    my $text = do { local $/; <$file> };
    if ($path =~ /\.(?:[chly]|def)\z/) {
        $text_of{$path} = $text if $path =~ /\.[ch]\z/;
        $text =~ s{("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*}{$1 // ' '}gse;
    }
    $known{$_} = 1 for $text =~ /\w+/g;
}
my $status = 0;
for my $path (sort keys %text_of) {
    my $text = $text_of{$path};
    while ($text =~ m{"(?:[^"\\\n]|\\.)*"|(/\*.*?\*/|//[^\n]*)}gs) {
        my ($comment, $begin) = ($1 // next, $-[1]);
        while ($comment =~ /(?<![\w%\\.\$<-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w>])/g) {
            my $name = $1;
            next if $known{$name} || $foreign{$name} || $name =~ /\A[a-z]_|_[a-z0-9]\z/; # n_i: a subscript of a formula
            my $line = 1 + (substr($text, 0, $begin + $-[1]) =~ tr/\n//);
            print "$path:$line: '$name': nothing has this name\n";
            $status = 1;
        }
    }
}
exit $status;
