#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# figures.pl FILE...: does pipec find the figures in the files' `figure:` lines, in comments of a program or of SDF3 XML?
# Prints lines "ok NAME" and "not ok NAME".  PIPEC is the program.
#
#   // figure: repetitions a=147 b=98      firings an iteration
#   // figure: throughput=1/960            iterations per cycle at the maximum
#   // figure: min=32 fast=34              bytes in buffers under --buffers=min, --buffers=fast
#   // figure: pareto 6=1/7 10=1/4         bytes and throughput of every point of --pareto
use strict;
use warnings;
use JSON::PP;

my $pipec = $ENV{PIPEC} or die "figures.pl: PIPEC is not set\n";

sub inspect {
    open my $from, '-|', $pipec, 'inspect', '-Wno-sdf3-difference', '--json', @_ or die "figures.pl: $pipec: $!\n";
    local $/;
    my $text = <$from>;
    return close $from ? decode_json($text) : {};
}

# The figures found under the same names as the wanted ones.
sub repetitions {
    my ($file) = @_;
    return map { $_->{name} => $_->{repetitions} } @{ inspect($file)->{nodes} };
}

sub pareto {
    my ($file) = @_;
    my $points = inspect('--pareto', $file)->{pareto};
    return map { $_->{memory_bytes} => $_->{iterations_per_cycle} } @$points;
}

sub whole {
    my ($file, $wanted) = @_;
    my %ways = (
        throughput => sub { inspect($file)->{throughput}{iterations_per_cycle} },
        min        => sub { inspect('--buffers=min', $file)->{memory_bytes} },
        fast       => sub { inspect('--buffers=fast', $file)->{memory_bytes} },
    );
    return map { $_ => $ways{$_}->() } keys %$wanted;
}

sub compare {
    my ($stem, $kind, $wanted, %found) = @_;
    my @names = $kind eq 'pareto' ? keys %{ { %$wanted, %found } } : keys %$wanted;
    my @wrong = grep { ($wanted->{$_} // 'none') ne ($found{$_} // 'none') } @names;
    print "$stem: $_ is ", $wanted->{$_} // 'none', ", found ", $found{$_} // 'none', "\n" for sort @wrong;
    print @wrong ? 'not ok' : 'ok', " $stem: $kind of ", scalar @names, " figures\n";
}

my %ask = (repetitions => \&repetitions, pareto => \&pareto, whole => \&whole);
for my $file (@ARGV) {
    my ($stem) = $file =~ m{([^/]+?)(?:\.pipe)?$};
    my %wanted;
    open my $source, '<', $file or die "figures.pl: $file: $!\n";
    while (my $line = <$source>) {
        next unless $line =~ m{^(?://|) *figure: (.*)$};
        my ($kind, @words) = ('whole', split ' ', $1);
        $kind = shift @words unless $words[0] =~ /=/;
        m{^(.+)=(.+)$} and $wanted{$kind}{$1} = $2 for @words;
    }
    close $source;
    compare($stem, $_, $wanted{$_}, $ask{$_}->($file, $wanted{$_})) for sort keys %wanted;
}
