#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# prose.pl [FILE...]: reports words and sentences that readers stumble over (CONTRIBUTING.md, "Glossary") in comments, in
# messages (the strings of C sources) and in pages.  Without FILE: every text of the tree, except where scripts/prose.txt
# makes an exception, and each exception without use.  Exit status 1 if there is anything to report.
#
# scripts/prose.txt: one exception per line, `PATH [comments]`, and comments after #.  PATH is a file or a folder (with /
# at its end).  With `comments`, the messages of its C sources are checked.
use strict;
use warnings;

my @rules = ( # name, pattern, advice
    ['what', qr/(?:\x01\s*|[.!:]\s+)What\b(?![^.!\x01]*\?)/, 'begin the sentence with its subject'],
    ['circle', qr/\b(?:circles?|(?<!short )(?<!short-)circuits?)\b/i, 'a graph has a "cycle"'],
    ['mend', qr/\bmend(?:s|ed|ing)?\b/i, 'write "fix"'],
    ['endless-wait', qr/\bendless\s+wait(?:s|ing)?\b|\bwait(?:s|ing)?\s+endlessly\b/i, 'write "deadlock", or "stall" at run time'],
    ['standstill', qr/\bstandstills?\b|\bstands?\s+still\b/i, 'write "stall" or "stop"'],
    ['behind', qr/\bbehind\b/i, 'write "after" or "past"'],
    ['alone', qr/\b(?<!stand-)alone\b/i, 'write "only" or "by itself"'],
    ['least', qr/\bthe\s+least\b(?!\s+(?:common|significant|recent)\b)/i, 'write "minimum", "smallest" or "fewest"'],
    ['most', qr/\b(?<!with )the\s+most\b(?!\s+(?:common|expensive|frequent|general|important|likely|recent|recently|significant|usual)\b)/i,
        'write "maximum" or "largest"'],
    ['who', qr/\b(?<!author )(?<!people )(?:who|whom|nobody|somebody|anybody)\b/i, 'name the thing: caller, reader, writer, thread'],
    ['tell', qr/\b(?:tells|told)\b(?!\s+you\b)/i, 'write "report", "say" or "show"'],
    ['item', qr/\w[.;:]\s- (?=[A-Za-z\x01])/, 'begin the item of a list in a line of its own'],
    ['that-which', qr/\bthat\s+which\b/i, 'name the thing'],
);

# spaces TEXT: as long, with the same ends of lines.
sub spaces { return $_[0] =~ s/[^\n]/ /gr }

# sentences TEXT: a comment's or a string's text, as long; \x01 in its first place.  Text in backquotes is code.
sub sentences {
    my ($text, $opening) = @_;
    $text =~ s/(`[^`\n]*`)/spaces($1)/ge;
    return "\x01" . (' ' x (length($opening) - 1)) . $text;
}

# Comments, and strings, of C, Flex and Bison.  Strings side by side are one.
sub prose_of_c {
    my $text = shift;
    $text =~ s/^([ \t]*#[ \t]*include\b.*)$/spaces($1)/gme;
    $text =~ s/(?<!\\)"([ \t]*(?:PRI[A-Za-z0-9]+)?\s*)"/' ' . spaces($1) . ' '/ge;
    my ($comments, $messages) = ('', '');
    while ($text =~ m{\G(?:(/\*)(.*?)(\*/)|(//)([^\n]*)|(")((?:[^"\\]|\\.)*)(")|('(?:[^'\\\n]|\\.)*')|(.))}gs) {
        my ($block, $line, $string) = ($2, $5, $7);
        my ($comment, $message) = (spaces($&)) x 2;
        $comment = sentences($block =~ s/^([ \t]*\*)/spaces($1)/gmer, '/*') . '  ' if defined $block;
        $comment = sentences($line, '//') if defined $line;
        $message = sentences($string =~ s/\\n/\x01 /gr, '"') . ' ' if defined $string && $string =~ / /;
        $comments .= $comment;
        $messages .= $message;
    }
    return (comments => $comments, messages => $messages);
}

# Comments of a line: of shells, make, awk, Perl and Python (#), and of pipec's language (// and /* */).
sub prose_of_lines {
    my ($text, $mark) = @_;
    my $joined = 0; # a comment of a whole line goes on in the next one
    return join "\n", map {
        my ($before, $opening, $comment) = /^(.*?(?:^|\s))($mark+)(\s.*|)$/;
        my $prose = defined $opening ? spaces($before) . sentences($comment, $opening) : '';
        my $whole = defined $opening && $before !~ /\S/ && $comment =~ /\S/;
        $prose =~ s/\x01/ / if $whole && $joined;
        $joined = $whole;
        $prose;
    } split /\n/, $text, -1;
}

sub prose_of_pipe {
    my $text = shift;
    $text =~ s{/\*(.*?)\*/}{my $inside = $1 =~ s/^([ \t]*)\*?/$1 /gmr; "//$inside"}gse;
    return prose_of_lines($text, qr{/});
}

# The comments of a block of code, by its language: none of a block without one, such as an output.
sub prose_of_block {
    my ($language, $code) = @_;
    return prose_of_pipe($code) if $language =~ /^(?:pipe|c)\b/;
    return $language =~ /^sh\b/ ? prose_of_lines($code, qr/#/) : spaces($code);
}

# Pages: of code only the comments, without those of the page and the targets of links.  A cell of a table begins a
# sentence.
sub prose_of_markdown {
    my $text = shift;
    $text =~ s/^([ \t]*```)([^\n]*)(.*?^)([ \t]*```)/spaces($1 . $2) . prose_of_block($2, $3) . spaces($4)/gmse;
    $text =~ s/(<!--.*?-->)/spaces($1)/gse;
    $text =~ s/(`[^`]*`)/spaces($1)/gse;
    $text =~ s/(\]\([^)]*\))/spaces($1)/ge;
    $text =~ s/^(#+ What\b)/spaces($1)/gme; # a heading is no sentence
    $text =~ s/^([ \t]*(?:#+|[-*]|\d+\.)[ \t]+)/spaces($1) =~ s{ $}{\x01}r/gme;
    $text =~ s/^([ \t]*)$/\x01/gm;
    $text =~ s/[|*_]/\x01/g;
    return "\x01$text";
}

sub prose_of_manual {
    my $text = shift;
    $text =~ s/^(\.\\".*|\.Dl .*|\.(?:Fl|Ar|Cm|Ql|Li|Pa) .*)$/spaces($1)/gme;
    $text =~ s/^(\.[A-Z][a-z]\b.*)$/\x01/gm;
    return "\x01$text";
}

# Kinds of prose in the file, and for each a text of as many lines.
sub prose_of {
    my ($path, $text) = @_;
    return prose_of_c($text) if $path =~ /\.(?:[chly]|def)$/;
    return (comments => prose_of_pipe($text)) if $path =~ /\.pipe$/;
    return (pages => prose_of_markdown($text)) if $path =~ /\.md$/;
    return (pages => prose_of_manual($text)) if $path =~ /\.[1-8]$/;
    return (comments => prose_of_lines($text, qr/#/));
}

# Programs of the tests are data; so are the seeds of the fuzz targets.
sub texts_of_tree {
    my @all = split /\n/, `find . \\( -path ./build -o -path ./.git -o -path ./tests/fuzz/corpus \\) -prune -o -type f -print`;
    return sort grep {
        /\.(?:[chly1-8]|def|dev|md|sh|pl|py|awk)$|^Makefile$/ || /\.pipe$/ && !/^tests\//
    } map { s{^\./}{}r } @all;
}

my @files = @ARGV;
my (%covers, %used); # of the exceptions: the kinds of prose they cover; those that something needs
if (!@files) {
    chdir(($0 =~ s{[^/]*$}{}r) . '..') or die $!;
    open my $list, '<', 'scripts/prose.txt' or die "scripts/prose.txt: $!";
    while (<$list>) {
        s/\s*#.*//s;
        next unless /\S/;
        /^(\S+)(?: (comments))?$/ or die "scripts/prose.txt:$.: not `PATH [comments]`\n";
        $covers{$1} = $2 // 'comments messages pages';
    }
    @files = texts_of_tree();
}

# exception PATH, KIND: the file's, or that of a folder that it is in; undef: none.
sub exception {
    my ($path, $kind) = @_;
    for (my $place = $path; $place ne ''; $place =~ s{[^/]+/?$}{}) {
        return $place if ($covers{$place} // '') =~ /$kind/;
    }
    return undef;
}

my $found = 0;
for my $path (@files) {
    open my $handle, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$handle> } // '';
    my %prose = prose_of($path, $text);
    for my $kind (sort keys %prose) {
        my $exception = exception($path, $kind);
        for (@rules) {
            my ($rule, $pattern, $advice) = @$_;
            while ($prose{$kind} =~ /$pattern/g) {
                my ($words, $line) = ($&, 1 + (substr($prose{$kind}, 0, $+[0]) =~ tr/\n//));
                if (defined $exception) {
                    $used{$exception} = 1;
                    next;
                }
                $words =~ s/[\x01.!:\s]+/ /g;
                $words =~ s/^ //;
                print "$path:$line: '$words': $advice [$rule]\n";
                $found++;
            }
        }
    }
}
for my $path (sort grep { !$used{$_} } keys %covers) {
    print "scripts/prose.txt: nothing needs the exception of $path: remove it\n";
    $found++;
}
exit($found > 0);
