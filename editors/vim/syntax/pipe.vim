" SPDX-License-Identifier: MIT
if exists('b:current_syntax') | finish | endif

syntax keyword pipeControl if else for while do switch case default break continue return stop launch
syntax keyword pipeStorage import const struct fn kernel pipeline buffer state table local finish
syntax keyword pipeFunction fma sqrt floor ceil trunc rint round copysign abs min max isnan isinf signbit bits from_bits any all
syntax keyword pipeFunction left done barrier
syntax keyword pipeConstant true false phase item

" Keywords in their places only. `x` in `init 4 x 0` is like a name: semantic tokens tell them apart.
syntax match pipePlace /\<\%(in\|out\|expect\|of\|test\)\>\ze\s\+\h/
syntax match pipePlace /\<expect\>\ze\s\+\S/
syntax match pipePlace /\<\%(child\|extern\|pure\|builtin\)\>\ze\s\+\%(pure\|kernel\)\>/
syntax match pipePlace /\<type\>\ze\s\+\h\w*\s*[,>]/
syntax match pipePlace /\<init\>\ze\s*[{(0-9A-Za-z_]/
syntax match pipeAttribute /\<\%(pop\|peek\|push\|window\|border\|amplify\|group\|groups\|launches\|total\|nesting\|depth\|rows\|frame\|policy\|importance\|cost\|from\|within\|with\|after\)\>\ze\s\+["0-9A-Za-z_{(.-]/
syntax match pipeType /\<\%(bool\|[iu]\%(8\|16\|32\|64\)\|f\%(16\|32\|64\)\|bf16\)\%(x\%(2\|3\|4\|8\|16\)\)\?\>/
syntax match pipeType /\<\%(int\|void\)\>/

syntax match pipeNumber /\<\d\+\%([uU][lL]\?\|[lL][uU]\?\)\?\>/
syntax match pipeNumber /\<[1-9]\d*\%(x\%(0\|[1-9]\d*\)\)\+\>/
syntax match pipeNumber /\<0[xX]\x\+\%([uU][lL]\?\|[lL][uU]\?\)\?\>/
syntax match pipeNumber /\<0[bB][01]\+\%([uU][lL]\?\|[lL][uU]\?\)\?\>/
syntax match pipeFloat /\<\d\+\.\.\@!\d*\%([eE][+-]\?\d\+\)\?[fF]\?/
syntax match pipeFloat /\.\@<!\.\d\+\%([eE][+-]\?\d\+\)\?[fF]\?/
syntax match pipeFloat /\<\d\+\%([eE][+-]\?\d\+[fF]\?\|[fF]\)\>/
syntax match pipeFlow /->\|<-/
syntax region pipeString start=/"/ skip=/\\./ end=/"\|$/
syntax match pipeString /'\%([^'\\]\|\\.\)\+'/
syntax match pipeComment /\/\/.*$/ contains=@Spell
syntax match pipeDocumentation /\/\/\/\%(\/\)\@!.*$/ contains=@Spell
syntax region pipeComment start=/\/\*/ end=/\*\// contains=@Spell

highlight default link pipeControl Statement
highlight default link pipeStorage Structure
highlight default link pipePlace StorageClass
highlight default link pipeAttribute Keyword
highlight default link pipeType Type
highlight default link pipeFunction Function
highlight default link pipeConstant Constant
highlight default link pipeNumber Number
highlight default link pipeFloat Float
highlight default link pipeFlow Operator
highlight default link pipeString String
highlight default link pipeComment Comment
highlight default link pipeDocumentation SpecialComment
let b:current_syntax = 'pipe'
