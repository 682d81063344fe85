-- SPDX-License-Identifier: MIT
-- Neovim 0.7 or newer: starts `pipec lsp` for the buffer. One server serves all buffers.
-- vim.g.pipec_path names the program, if it is not `pipec`.
if not vim.lsp then return end

local folder = vim.fn.fnamemodify(vim.fn.finddir('.git', vim.fn.expand('%:p:h') .. ';'), ':p:h:h')
if folder == '' then folder = vim.fn.expand('%:p:h') end
local config = {
    name = 'pipec',
    cmd = { vim.g.pipec_path or 'pipec', 'lsp', '--stdio' },
    root_dir = folder,
    workspace_folders = { { uri = vim.uri_from_fname(folder), name = folder } },
}
if vim.lsp.start then
    vim.lsp.start(config)
    return
end
-- Neovim 0.7 has no vim.lsp.start.
local client = vim.g.pipec_client
if not client or not vim.lsp.get_client_by_id(client) then
    client = vim.lsp.start_client(config)
    vim.g.pipec_client = client
end
if client then vim.lsp.buf_attach_client(0, client) end
