-- SPDX-License-Identifier: MIT
-- A session of Neovim with pipec lsp, on main.pipe of editors.sh. Prints `ok CLAIM` or `not ok CLAIM`.
local function check(claim, holds, seen)
    io.stdout:write((holds and 'ok' or 'not ok') .. ' Neovim: ' .. claim .. '\n')
    if not holds then io.stdout:write(vim.inspect(seen) .. '\n') end
end

local function wait_for(test) return vim.wait(20000, test, 20) end

local function errors() return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) end

local function ask(method, line, character, more)
    local params = vim.tbl_extend('force', { textDocument = vim.lsp.util.make_text_document_params(),
                                             position = { line = line, character = character } }, more or {})
    for _, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/' .. method, params, 20000) or {}) do
        return answer.result, answer.error
    end
end

check('a file *.pipe has its type', vim.bo.filetype == 'pipe', vim.bo.filetype)
check('the server attaches itself', wait_for(function()
    return #vim.tbl_values(vim.lsp.buf_get_clients(0)) == 1 and vim.tbl_values(vim.lsp.buf_get_clients(0))[1].initialized
end))
local hover = ask('hover', 3, 43)
check('hover', hover and hover.contents.value:find('kernel half', 1, true), hover)
local places = ask('references', 3, 43, { context = { includeDeclaration = true } })
check('references', places and #places == 2, places)
vim.api.nvim_buf_set_text(0, 3, 42, 3, 46, { 'hlaf' })
check('an error is shown while it is typed', wait_for(function() return errors() == 1 end), vim.diagnostic.get(0))
vim.api.nvim_buf_set_text(0, 3, 42, 3, 46, { 'half' })
check('and goes away', wait_for(function() return errors() == 0 end), vim.diagnostic.get(0))
local edit = ask('rename', 3, 43, { newName = 'third' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
check('a rename changes the text', vim.api.nvim_buf_get_lines(0, 3, 4, true)[1] ==
      'pipeline main(in f32 x, out f32 y) { x -> third -> times(4) -> y; }', vim.api.nvim_buf_get_lines(0, 0, -1, true))
vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { '// \240\157\132\158 ' })
local edits = ask('formatting', 0, 0, { options = { tabSize = 4, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits, 0, 'utf-16')
check('formatting', vim.api.nvim_buf_get_lines(0, 2, 3, true)[1] ==
      'kernel times(in f32 x, out f32 y; f32 by) { y <- by * x; }', vim.api.nvim_buf_get_lines(0, 0, -1, true))
