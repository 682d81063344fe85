#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# options.pl ROOT: the help of a command is the table of its options.  The parser, the messages about values and the manual
# pages have the same options, arguments and values.  Runs $PIPEC and $PIPERUN, prints lines "ok CLAIM" or "not ok CLAIM".
# options.pl --list: prints the table, for tests/e2e/compatibility.sh: "option COMMAND NAME ARGUMENT" and "value COMMAND NAME VALUE".
use strict;
use warnings;

my $root = shift;
my $lists = $root eq '--list';
my ($pipec, $piperun) = @ENV{qw(PIPEC PIPERUN)};
my @commands = sort split ' ', output_of($pipec, 'complete', '--', 'pipec', '');

sub text_of { open my $file, '<', $_[0] or die "$_[0]: $!"; local $/; <$file> }
sub output_of { my $words = join ' ', map { "'$_'" } @_; scalar `$words 2>&1 </dev/null` }
sub told { my ($claim, @wrong) = @_; print "# $_\n" for @wrong; print @wrong ? 'not ok' : 'ok', " $claim\n" }

# The argument of an option by what stands after its name: none, optional or required.
sub kind_of { my $rest = shift; $rest =~ /^(?:\[=| Ns O[po] = )/ ? 'optional' : $rest =~ /^(?:=| Ns = | Ar | Cm )/ ? 'required' : 'none' }

# Option => [kind, values...] of a help: from the lines that begin with two blanks and '-', up to the next two blanks.
sub options_of_help {
    my %options;
    for (split /\n/, shift) {
        next unless /^  (-\S.*?)(?:  |$)/;
        my $forms = $1;
        while ($forms =~ /(?:^|(?<=, ))(--?[A-Za-z](?:[a-z-]*[a-z])?)(\[?=(\S+))?( [A-Z])?/g) {
            my ($name, $values) = ($1, $3 // '');
            my $kind = defined $4 ? 'required' : kind_of($2 // '');
            $values =~ s/[[\]].*//;
            $options{$name} = [$kind, grep { /^[a-z]/ } map { s/:.*/:/r } split /\|/, $values];
        }
    }
    \%options;
}

my %help = map { $_ => options_of_help(output_of($pipec, $_, '--help')) } @commands;
$help{pipec} = options_of_help(output_of($pipec, '--help'));
$help{piperun} = options_of_help(output_of($piperun, '--help'));

for my $command ($lists ? sort keys %help : ()) {
    for my $name (sort keys %{$help{$command}}) {
        my ($kind, @values) = @{$help{$command}{$name}};
        print "option $command $name $kind\n", map { "value $command $name $_\n" } @values;
    }
}
exit 0 if $lists;

# ---- the parser ----

# Compares a help with the options that a source takes.
sub parsed {
    my ($source, @helps) = @_;
    my @wrong;
    my $text = text_of("$root/$source");
    while ($text =~ /(?:X\(\w+, +|\{)"([a-z-]+)", +(\w+)_argument,([^\n]*)/g) {
        my ($name, $kind) = ("--$1", $2 eq 'no' ? 'none' : $2);
        next if $3 =~ /OPTION_LATER/ || $name eq '--help';
        my ($found) = grep { defined } map { $help{$_}{$name} } @helps;
        if (!defined $found) { push @wrong, "no help has $name" }
        elsif ($found->[0] ne $kind) { push @wrong, "$name: the parser says $kind, the help $found->[0]" }
    }
    told("the help of $helps[0] has each option that $source takes", @wrong);
}
parsed('compiler/driver/command_line.c', 'pipec', 'inspect');
parsed("compiler/commands/command_$_.c", $_) for qw(bench fmt graph new report test);
parsed('tools/piperun/run_options.c', 'piperun');

# ---- the values ----

my %filler = map { $_ => 1 } qw(a and are file form formats from is kinds levels neither none nor not nothing number of only or the to);
for my $command ('pipec', 'piperun', @commands) {
    next if $command eq 'run';
    for my $name (sort keys %{$help{$command}}) {
        my ($kind, @values) = @{$help{$command}{$name}};
        next if !@values || ($command ne 'pipec' && $name =~ /^--(version|help)$/);
        my @words = $command eq 'piperun' ? ($piperun, 'x.pbc') : $command eq 'pipec' ? ($pipec) : ($pipec, $command);
        my ($message) = output_of(@words, "$name=nonsense", 'x.pipe') =~ /error: (?:$name(?:=nonsense)?: )?([^\n]*)/;
        my %said = map { lc $_ => 1 } grep { $_ ne 'nonsense' } ($message // '') =~ /([a-z][a-z0-9_-]*|FILE)/g;
        my @wrong = map { "$_ is in the help only" } grep { !delete $said{s/:$//r} } @values;
        push @wrong, map { "$_ is in the message only" } grep { !$filler{$_} } sort keys %said;
        told("$command $name: the message about a wrong value names those of the help", @wrong);
    }
}

# ---- the manual pages ----

# The options of a page with the kinds of their arguments, its words, and the options that its lists explain.
sub options_of_page {
    my $text = text_of(shift) =~ s/\\&//gr =~ s/\\-/-/gr =~ s/Fl h , -help/Fl h , Fl -help/gr;
    my (%options, %words, %listed);
    $listed{"-$_"} = 1 for map { /Fl (-?[A-Za-z][a-z-]*)/g } $text =~ /^\.It (.*)/mg;
    while ($text =~ /Fl (-?[A-Za-z](?:[a-z-]*[a-z])?)((?: Ns O[po] = | Ns = | Ar | Ns Ar | Cm )?)/g) {
        my ($name, $kind) = ("-$1", kind_of($2));
        $options{$name}{$kind} = 1;
    }
    $words{$1} = 1 while $text =~ /\b([a-z][a-z0-9_:-]*)/g;
    (\%options, \%words, \%listed);
}

sub documented {
    my ($page, @helps) = @_;
    my ($options, $words, $listed) = options_of_page("$root/$page");
    my (%all, @wrong);
    for my $help (@helps) {
        for my $written (sort keys %{$help{$help}}) {
            my ($kind, @values) = @{$help{$help}{$written}};
            my $name = $written =~ s/^-W.*/-W/r;
            $all{$name} = 1;
            if (!$options->{$name}) { push @wrong, "$name of $help is not in the page" }
            elsif ($kind eq 'required' && $name =~ /^--/ && !$options->{$name}{required}) { push @wrong, "$name of $help takes a value" }
            push @wrong, map { "$name of $help: the page has no '$_'" } grep { !$words->{$_} } @values;
        }
    }
    told("$page has the options and values of the helps", @wrong);
    told("$page explains no other options", map { "$_ is in no help" } grep { !$all{$_} } sort keys %$listed);
    scalar keys %all;
}
my $count = documented('man/pipec.1', 'pipec', grep { $_ ne 'run' } @commands);
$count += documented('man/piperun.1', 'piperun');
told('there are as many options as were read', $count >= 80 ? () : "only $count");
