" SPDX-License-Identifier: MIT
autocmd BufNewFile,BufRead *.pipe setfiletype pipe
