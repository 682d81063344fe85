#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# page.pl [--bless] [--leave-out REGEX=REASON] PAGE: does in the current folder, in order, all that a page has its readers do,
# and prints a line `ok`, `not ok` or `skip` for each block.  Exit status 1 if one is not ok.
#
#   ```sh            a block of commands: bash -euo pipefail, with an empty standard input, at most a minute
#   ```output        all that the commands before it print on both outputs; a line `...` stands for any lines.  Commands
#                    without such a block may print anything.
#   ```LANGUAGE      after a line that is only a name in backquotes and a colon, or that ends so ("Write `first.pipe`:"):
#                    the contents of this file
#   <!-- not-run: REASON -->       the commands are not run
#   <!-- exit-status: N -->        their exit status, if it is not 0
#   <!-- needs: PROGRAM... -->     they are skipped where one of these programs is not installed; so are those that follow
#                                  with `needs: previous`
#
# --bless writes into the page what the commands print, where it differs.  --leave-out skips blocks with this text.
use strict;
use warnings;

my ($bless, %left_out);
while (@ARGV && $ARGV[0] =~ /^--/) {
    my $option = shift @ARGV;
    if ($option eq '--bless') { $bless = 1 }
    elsif ($option eq '--leave-out' && shift(@ARGV) =~ /^(.*?)=(.*)$/) { $left_out{$1} = $2 }
    else { die "page.pl: unknown option $option\n" }
}
my $page = shift @ARGV or die "usage: page.pl [--bless] [--leave-out REGEX=REASON] PAGE\n";
open my $in, '<', $page or die "page.pl: $page: $!\n";
my @lines = <$in>;
close $in;

my (%notes, $name, @blocks, $block);
for my $number (0 .. $#lines) {
    my $line = $lines[$number];
    if ($block) {
        if ($line =~ /^```$/) { $block->{end} = $number; undef $block }
        else { $block->{text} .= $line }
    } elsif ($line =~ /^```(\S*)$/) {
        $block = {language => $1, name => $name, begin => $number + 1, text => '', %notes};
        push @blocks, $block;
        %notes = ();
        undef $name;
    } elsif ($line =~ /^<!-- (not-run|exit-status|needs): (.*) -->$/) {
        $notes{$1} = $2;
    } elsif ($line =~ /\S/) {
        %notes = ();
        $name = $line =~ /`([^`\s]+)`:$/ ? $1 : undef;
    }
}
die "page.pl: $page: a block has no end\n" if $block;

sub installed { return !grep { my $p = $_; !grep { -x "$_/$p" } split /:/, $ENV{PATH} } split ' ', shift }

# matches EXPECTED, FOUND: texts; `...` is a line that stands for any lines.
sub matches {
    my $pattern = join '', map { $_ eq "...\n" ? '(?:.*\n)*?' : quotemeta } $_[0] =~ /(.*\n)/g;
    return $_[1] =~ /\A$pattern\z/;
}

my ($failed, $skipped) = (0, '');
sub report {
    my ($block, $problem, @texts) = @_;
    printf "%s line-%d\n", $problem ? 'not ok' : 'ok', $block->{begin};
    return unless $problem;
    $failed = 1;
    print "$problem\n", map { s/^/    /gmr } @texts;
}

sub run {
    my ($block, $expected) = @_;
    open my $script, '>', '.page-block' or die ".page-block: $!\n";
    print $script $block->{text};
    close $script;
    my $found = qx{timeout 800 bash -euo pipefail .page-block 2>&1 </dev/null};
    my $status = $? >> 8;
    unlink '.page-block';
    $found .= "\n" if $found =~ /[^\n]\z/;
    my $wanted = $block->{'exit-status'} // 0;
    return report($block, "exit status $status, expected $wanted", $block->{text}, $found) if $status != $wanted;
    if ($expected && !matches($expected->{text}, $found)) {
        return report($block, 'it prints something else', $block->{text}, "expected:\n", $expected->{text}, "found:\n", $found)
            unless $bless;
        $expected->{new} = $found;
    }
    report($block);
}

for my $i (0 .. $#blocks) {
    my $block = $blocks[$i];
    if (defined $block->{name}) {
        my ($folder) = $block->{name} =~ m{^(.*)/};
        system('mkdir', '-p', $folder) if defined $folder;
        open my $out, '>', $block->{name} or die "$block->{name}: $!\n";
        print $out $block->{text};
        close $out;
        next;
    }
    next if $block->{language} ne 'sh';
    my ($text) = grep { $block->{text} =~ /$_/ } sort keys %left_out;
    my $reason = $block->{'not-run'} // (defined $text ? $left_out{$text} : '');
    my $needs = $block->{needs} // '';
    $reason = $needs eq 'previous' ? $skipped : "$needs is not installed" if $needs ne '' && ($needs eq 'previous' || !installed($needs));
    $skipped = $reason if $needs ne '';
    if ($reason ne '') { printf "skip line-%d %s\n", $block->{begin}, $reason; next }
    my $next = $blocks[$i + 1];
    run($block, $next && $next->{language} eq 'output' ? $next : undef);
}

my @new = grep { defined $_->{new} } @blocks;
if (@new) {
    for my $block (reverse @new) { splice @lines, $block->{begin}, $block->{end} - $block->{begin}, $block->{new} =~ /(.*\n)/g }
    open my $out, '>', $page or die "page.pl: $page: $!\n";
    print $out @lines;
    close $out;
}
exit $failed;
