#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Numbers of a test directive <-> packets in a file.  Perl, because every Debian and Ubuntu has it.
#
#   values.pl pack TYPE LIST > FILE           write LIST as little-endian packets
#   values.pl compare TYPE[~TOLERANCE] LIST FILE   exit 1, and say where, if FILE holds anything else
#
# LIST is comma-separated: 1.5  -3  -0  0xff  nan  inf  0..9 (a range, upwards or downwards)  0*64 (64 times 0)
# Floats are compared by their bits, or within TOLERANCE.  f16 and bf16 are written as bits: 0x3c00.
use strict;
use warnings;
no warnings 'portable'; # hexadecimal numbers of 64 bits

my %template = (
    bool => 'C', u8 => 'C', i8 => 'c', u16 => 'S<', i16 => 's<', u32 => 'L<', i32 => 'l<',
    u64 => 'Q<', i64 => 'q<', f16 => 'S<', bf16 => 'S<', f32 => 'f<', f64 => 'd<');

# Perl loses the signs of nan and of -0.
my %bits = (
    'f32 nan' => 0x7fc00000, 'f32 -0' => 0x80000000,
    'f64 nan' => 0x7ff8000000000000, 'f64 -0' => 0x8000000000000000);

sub packet {
    my ($type, $value) = @_;
    my $bits = $bits{"$type $value"};
    return pack $template{$type}, $value unless defined $bits;
    return pack $type eq 'f32' ? 'L<' : 'Q<', $bits;
}

sub number {
    my ($text) = @_;
    return $text if $text eq 'nan' || $text eq '-0';
    return hex $text if $text =~ /^0x[0-9a-f]+$/i;
    return $text + 0 if $text =~ /^[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf)$/;
    die "values.pl: '$text' is not a number\n";
}

sub expand {
    my ($item) = @_;
    if ($item =~ /^(-?\d+)\.\.(-?\d+)$/) {
        return $1 <= $2 ? ($1 .. $2) : reverse($2 .. $1);
    }
    return (number($1)) x $2 if $item =~ /^(.+)\*(\d+)$/;
    return (number($item));
}

my ($command, $type, $list, $path) = @ARGV;
my $tolerance = $type =~ s/~(.*)$// ? number($1) : undef;
my $template = $template{$type} or die "values.pl: unknown type '$type'\n";
my @wanted = map { expand($_) } split /,/, $list;
my $wanted = join '', map { packet($type, $_) } @wanted;
binmode STDOUT;

if ($command eq 'pack') {
    print $wanted;
    exit 0;
}

open my $file, '<:raw', $path or die "values.pl: $path: $!\n";
my $found = do { local $/; <$file> } // '';
exit 0 if $found eq $wanted;

my $width = length pack $template, 0;
my @found = unpack "($template)*", $found;
my $differ = length($found) != length($wanted);
my @report;
for my $i (0 .. ($#found > $#wanted ? $#found : $#wanted)) {
    my ($w, $f) = (substr($wanted, $i * $width, $width) // '', '');
    $f = substr $found, $i * $width, $width if $i < @found;
    next if $w eq $f;
    next if defined $tolerance && $i < @found && $i < @wanted && abs($found[$i] - $wanted[$i]) <= $tolerance;
    $differ = 1;
    my $digits = $type eq 'f32' ? '%.9g' : $type eq 'f64' ? '%.17g' : '%s';
    push @report, sprintf "  [%d] expected %s, found %s\n", $i,
        $i < @wanted ? sprintf($digits, unpack $template, $w) : 'the end',
        $i < @found ? sprintf($digits, $found[$i]) : 'the end' if @report < 8;
}
exit 0 unless $differ;
printf "  %d packets expected, %d found, %d bytes\n", scalar @wanted, scalar @found, length $found;
print @report;
exit 1;
