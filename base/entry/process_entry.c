/* SPDX-License-Identifier: MIT */
/*
 * process_entry: where a linked command begins, as control-flow enforcement wants it.
 *
 * The dynamic linker jumps to the entry through a register.  With indirect branch tracking such a jump has to meet
 * ENDBR64, which the C library's _start lacks where the library was built without.  So the linker's mark of a command
 * would not be true for its first instruction.
 */
#if defined(__x86_64__) && defined(__CET__)
__asm__(".text\n"
        ".globl process_entry\n"
        ".type process_entry, @function\n"
        "process_entry:\n"
        "    endbr64\n"
        "    jmp _start\n"
        ".size process_entry, . - process_entry\n");
#else
typedef int process_entry_is_start;
#endif
