#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# compatibility.pl ROOT: what docs/compatibility.md promises, one item a line, as the programs and headers have it now.
# Runs $PIPEC, $PIPERUN, cc, and clang for the layouts of structs; works in the current folder.
use strict;
use warnings;
use JSON::PP;

my $root = shift;
my ($pipec, $piperun) = @ENV{qw(PIPEC PIPERUN)};
my $program = "$root/tests/compatibility/program.pipe";
my @headers = map { "runtime/host/$_" } qw(pipert.h pipert_debug.h pipert_queue.h);

sub text_of { open my $file, '<', $_[0] or die "$_[0]: $!"; local $/; <$file> }
sub write_text { open my $file, '>', $_[0] or die "$_[0]: $!"; print $file $_[1] }
sub run { my $text = qx($_[0]); die "$_[0]: exit status " . ($? >> 8) . "\n" if $?; $text }

# ---- the commands ----

print run("perl '$root/tests/e2e/options.pl' --list");
print "rule $_->{id}\n" for @{decode_json(run("'$pipec' explain --list --format=json"))->{rules}};
print "device $_\n" for @{decode_json(run("'$pipec' --version=json"))->{devices}};

# The paths of keys: "stages[].name".
sub print_keys {
    my ($form, $value, $path) = @_;
    my %seen;
    my $visit;
    $visit = sub {
        my ($value, $path) = @_;
        if (ref $value eq 'HASH') {
            for my $key (keys %$value) {
                my $inner = $path eq '' ? $key : "$path.$key";
                $seen{$inner} = 1;
                $visit->($value->{$key}, $inner);
            }
        } elsif (ref $value eq 'ARRAY') {
            $visit->($_, "$path\[]") for @$value;
        }
    };
    $visit->($value, '');
    print "json $form $_\n" for sort keys %seen;
    print "json $form version=$value->{version}\n" if ref $value eq 'HASH' && defined $value->{version};
}
run("'$pipec' -q --no-fuse '$program' -o apart.pbc"); # fused, no stage waits for another
run("'$piperun' -q apart.pbc samples=gen:ramp:64 smooth=null --stats=json:stats.json");
my %forms = (
    'pipec --version=json' => run("'$pipec' --version=json"),
    'piperun --version=json' => run("'$piperun' --version=json"),
    'pipec doctor --json' => run("'$pipec' doctor --json || true"),
    'pipec inspect --json' => run("'$pipec' inspect --json --no-fuse --device=sim16 '$program'"),
    'pipec graph --format=json' => run("'$pipec' graph --format=json '$program'"),
    'pipec --diagnostics=json' => run("'$pipec' --diagnostics=json -D by=x '$program' 2>&1 || true"),
    'piperun --stats=json' => text_of('stats.json'),
);
print_keys($_, decode_json($forms{$_})) for sort keys %forms;

# ---- the library ----

my $includes = join '', map { "#include \"$_\"\n" } @headers;
write_text('api.c', $includes);
run("cc -I'$root' -S -o /dev/null -aux-info api.txt api.c");
for (split /\n/, text_of('api.txt')) {
    print "function $1\n" if m{^/\* \Q$root\E/[^*]*:NC \*/ extern (.*prt_.*);} ;
}

# Constants, with their values.
my $text = run("cc -I'$root' -E -P api.c");
my @names = map { /\b(PRT_[A-Z0-9_]+)\b/g } $text =~ /\benum\b[^{};]*\{([^}]*)\}/g;
write_text('values.c', "#include <stdio.h>\n$includes" . "int main(void) {\n" .
    join('', map { "    printf(\"constant $_ %lld\\n\", (long long)$_);\n" } @names) . "    return 0;\n}\n");
run("cc -I'$root' values.c -o values");
print run('./values');

# Structs: size, and the place of each member.
exit 0 unless $ENV{CLANG};
my $struct;
for (split /\n/, run("'$ENV{CLANG}' -I'$root' -fsyntax-only -Xclang -fdump-record-layouts-complete api.c")) {
    $struct = /^ +0 \| struct (prt_\w+)$/ ? $1 : undef if /^ +\d+ \| \w/;
    next unless defined $struct;
    print "struct $struct $1 $2\n" if /^ +(\d+(?::\d+-\d+)?) \|   (\S.*)$/;
    print "struct $struct size $1\n" if /\[sizeof=(\d+)/;
}
