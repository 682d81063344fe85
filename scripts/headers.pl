#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# headers.pl HEADER...: reports headers of more than 36 prototypes, and structs of more than 30 members, that give no
# reason.  The reason of a header stands in its first comment and begins with "One header because"; that of a struct in
# the comment before it, with "One struct because".
use strict;
use warnings;

my ($prototypes_max, $members_max, $status) = (36, 30, 0);

sub complain {
    print "$_[0]\n";
    $status = 1;
}

for my $path (@ARGV) {
    open my $file, '<', $path or die "headers.pl: $path: $!\n";
    my $text = do { local $/; <$file> };
    my $licence = '/\*[^*]*SPDX[^*]*\*/';
    my $first = $text =~ m{\A(?:$licence\s*)?(/\*.*?\*/)}s ? $1 : '';
    $first =~ s/\s*\n\s*\*\s*/ /g;
    while ($text =~ m{(/\*(?:(?!\*/).)*\*/\s*)?^struct (\w+) \{\n(.*?)^\}}gms) {
        my ($comment, $name, $body) = ($1 // '', $2, $3);
        $comment =~ s/\s*\n\s*\*\s*/ /g;
        $body =~ s{/\*.*?\*/}{}gs;
        1 while $body =~ s/\([^()]*\)|\{[^{}]*\}//g;
        my $members = $body =~ tr/;,//;
        complain("$path: struct $name has $members members: split it, or say before it \"One struct because ...\"")
            if $members > $members_max && $comment !~ /One struct because/;
    }
    $text =~ s{/\*.*?\*/}{}gs;
    1 while $text =~ s/\{[^{}]*\}//g;
    my $prototypes = () = $text =~ /^(?!typedef|static|#)[a-z][^;{}#]*\([^;{}]*\)[^;{}]*;/gm;
    complain("$path: $prototypes prototypes: split it, or say in its first comment \"One header because ...\"")
        if $prototypes > $prototypes_max && $first !~ /One header because/;
}
exit $status;
