#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# limits.pl: compares lang/limits.md with the constants of the sources that limit something: those named ..MAX.. or ..LIMIT..
# in the folders that decide what is accepted.  Prints what stands on one side only, and values that differ; exit status 1
# if there is any.  "limits.pl --list" prints the constants: file, name, value.
use strict;
use warnings;
use bigint;

chdir(($0 =~ s{[^/]*$}{}r) . '..') or die $!;
my @folders = ('base', map({"compiler/$_"} qw(support diagnostics context syntax ir sema bodies liveness pace driver editor commands)),
    'lang', 'core', 'model', 'runtime', 'tools');
my @files = ('compiler/codegen/common/kernel_llvm.c', 'compiler/emit/container_write.c');
for my $folder (@folders) {
    push @files, split /\n/, `find $folder -name '*.[chly]' | sort`;
}

# value EXPRESSION, CONSTANTS: of C, or undef.
sub value {
    my ($text, $known) = @_;
    my $of = qr/\((?:u?int\d+_t|size_t|wide|depth_cost|affine_wide|png_alloc_size_t)\)/;
    for ($text) {
        s/$of\s*//g;
        s/U?INT64_C\((\w+)\)/$1/g;
        s/\bINT64_MAX\b/9223372036854775807/g;
        s/\bINT32_MAX\b/2147483647/g;
        s/\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b/$1/g;
        s/\b([A-Z][A-Z0-9_]+)\b/defined $known->{$1} ? $known->{$1} : $1/ge;
        s/\b0x([0-9a-fA-F]+)/hex($1)/gie;
        return undef unless /^[\d\s()+*<\-]+$/;
    }
    my $result = eval $text;
    return defined $result ? "$result" : undef;
}

my (%source, %known);
for my $path (@files) {
    open my $handle, '<', $path or die "$path: $!";
    my $text = do { local $/; <$handle> };
    $text =~ s{/\*.*?\*/}{}gs;
    $text =~ s{\\\n}{ }g;
    my $file = $path =~ s{.*/}{}r;
    my $name = qr/(?:[A-Z0-9]+_)*(?:MAX|LIMIT)(?:_[A-Z0-9]+)*/;
    my @found;
    while ($text =~ /^\s*#\s*define\s+(\w+)[ \t]+(.+?)\s*$/mg) { push @found, [$1, $2]; }
    while ($text =~ /\benum\s*\w*\s*\{([^}]*)\}/g) {
        my $body = $1;
        while ($body =~ /\b([A-Z][A-Z0-9_]*)\s*=\s*([^,]+?)\s*(?:,|$)/g) { push @found, [$1, $2]; }
    }
    while ($text =~ /static const wide\s+([^;]*);/g) {
        my $body = $1;
        while ($body =~ /([A-Z_]+)\s*=\s*([^,;]+)/g) { push @found, [$1, $2]; }
    }
    for (@found) {
        my ($constant, $expression) = @$_;
        my $number = value($expression, \%known);
        $known{$constant} = $number if defined $number;
        next unless $constant =~ /^$name$/ && defined $number;
        push @{$source{"$file $constant"}}, $number;
    }
}
if (@ARGV && $ARGV[0] eq '--list') {
    for my $key (sort keys %source) { print "$key $_\n" for @{$source{$key}}; }
    exit 0;
}

# number TEXT: as the page writes it: 1,024; 2^31; 2^31 - 1; 64 MiB.
sub number {
    my $text = shift =~ s/,(?=\d)//gr;
    my %unit = ('' => 1, KiB => 2**10, MiB => 2**20, GiB => 2**30);
    return $2 ? 2**$1 - $2 : 2**$1 if $text =~ /^2\^(\d+)(?: - (\d+))?/;
    return $1 * $unit{$2 // ''} if $text =~ /^(\d+)(?: (KiB|MiB|GiB))?/;
    return -1;
}

my ($failed, %page) = (0);
open my $page, '<', 'lang/limits.md' or die "lang/limits.md: $!";
while (<$page>) {
    # `file.c`: `NAME` VALUE, `NAME` VALUE
    while (/`([\w.]+\.[chy])`: ((?:`[A-Z0-9_]+` [^`|;]+(?:, )?)+)/g) {
        my ($file, $list) = ($1, $2);
        while ($list =~ /`([A-Z0-9_]+)` ([^`|;]+)/g) {
            my ($constant, $number) = ($1, number($2));
            push @{$page{"$file $constant"}}, "$number";
        }
    }
}
for my $key (sort keys %source) {
    my $want = join ' ', sort @{$source{$key}};
    my $have = join ' ', sort @{$page{$key} // []};
    next if $want eq $have;
    print "$key: the source has $want, lang/limits.md ", $have eq '' ? 'does not have it' : $have, "\n";
    $failed = 1;
}
for my $key (sort keys %page) {
    next if $source{$key};
    print "$key: stands in lang/limits.md, but not in the source\n";
    $failed = 1;
}
print scalar(keys %source), " constants\n";
exit $failed;
