# SPDX-License-Identifier: MIT
# pipec: build, test, install.  `make help` lists the targets; nothing is written outside $(BUILD)/.
#
#   make VARIANT=debug -k -j2       build another variant (release, debug, asan, tsan)
#   make VARIANT=debug test_rate    one unit test; run it with T='*pattern*' build/debug/tests/test_rate
#   make LLVM_CONFIG=llvm-config-19 BUILD=/tmp/build CC=clang-22 V=1

VERSION   := 0.1.0
SOVERSION := 0
# For --version=json, from the repository, or from the file in a source archive; else empty. Only one file of pipec and of piperun is compiled again when it changes.
COMMIT    ?= $(if $(wildcard .git),$(shell git rev-parse --short=12 HEAD 2>/dev/null),$(shell cat .commit 2>/dev/null))

VARIANT ?= release
BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
T       ?= 60
# However the folder is spelt it is one folder: relative within the sources, absolute elsewhere.  Another spelling would
# be another set of flags, so a `make install` from a test would build everything again under the other tests.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
B       := $(BUILD)/$(VARIANT)
Q       := $(if $(V),,@)
say      = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-7s %s\n' $(1) $(2);)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := $(if $(findstring clang,$(CC)),ar,$(or $(shell command -v gcc-ar),ar))
endif
FLEX       ?= flex
BISON      ?= bison
PKG_CONFIG ?= pkg-config
INSTALL    ?= install

comma := ,

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
.PHONY: all
all:

# ---- LLVM: the first one found; only the compiler's objects depend on which ----------------------

ifndef LLVM_CONFIG
LLVM_CONFIG := $(shell for v in -22 -19 -20 -21 -18 ''; do command -v llvm-config$$v && break; done)
endif
LLVM_MAJOR := $(if $(LLVM_CONFIG),$(shell $(LLVM_CONFIG) --version 2>/dev/null | cut -d. -f1))
LLVM_MAJOR := $(or $(LLVM_MAJOR),0)
ifneq ($(shell test $(LLVM_MAJOR) -ge 18 && echo yes),yes)
LLVM_PROBLEM := LLVM 18 or newer is needed, found $(if $(LLVM_CONFIG),$(LLVM_CONFIG) \
  (version $(LLVM_MAJOR)),no llvm-config): run `make deps`, or set LLVM_CONFIG=/path/to/llvm-config
endif
need_llvm = $(if $(LLVM_PROBLEM),$(error $(LLVM_PROBLEM)))
L := $(B)/llvm$(LLVM_MAJOR)

ifndef LLVM_PROBLEM
LLVM_BINDIR := $(shell $(LLVM_CONFIG) --bindir)
LLVM_LD     := $(shell command -v ld.lld-$(LLVM_MAJOR) || command -v $(LLVM_BINDIR)/ld.lld || \
                       command -v ld.lld || echo ld.lld)
LLVM_CPP    := -isystem $(shell $(LLVM_CONFIG) --includedir)
LLVM_LIBS   := $(shell $(LLVM_CONFIG) --ldflags --libs --system-libs) \
               $(if $(filter static,$(shell $(LLVM_CONFIG) --shared-mode)),-lstdc++)
endif
COMPILER_CPP = $(LLVM_CPP) -DPIPEC_LLVM_MAJOR=$(LLVM_MAJOR) -DPIPEC_LLD='"$(LLVM_LD)"'

# The clang that compiles the scheduler for GPUs.  Without one, the device `cuda` is left out.
GPU_CLANG ?= $(shell for c in clang-$(LLVM_MAJOR) $(LLVM_BINDIR)/clang clang-22 clang-19 clang-20 clang-21 clang-18; do command -v $$c && break; done)

# The second LLVM that `make check` compiles the language tests with.
ifneq ($(LLVM_MAJOR),19)
LLVM2_CONFIG ?= $(shell command -v llvm-config-19)
endif

# Sources stay as they are, whichever script of theirs runs.
export PYTHONDONTWRITEBYTECODE := 1

# ---- Flags.  CPPFLAGS, CFLAGS, LDFLAGS and WERROR are the user's ---------------------------------

ifeq ($(filter $(VARIANT),release debug asan tsan fuzz coverage),)
$(error VARIANT=$(VARIANT): choose release, debug, asan or tsan)
endif

# gcc's flow analysis gives false "maybe uninitialized" reports on instrumented code.
SANITIZED    := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
OPT_release  := -O2 -g
OPT_debug    := -O0 -g3
OPT_asan     := $(SANITIZED) -fsanitize=address,undefined -Wno-maybe-uninitialized
OPT_tsan     := $(SANITIZED) -fsanitize=thread -Wno-maybe-uninitialized
OPT_coverage := -O0 -g
OPT_fuzz     := $(SANITIZED) -fsanitize=fuzzer-no-link,address,undefined
FORTIFY_release := -D_FORTIFY_SOURCE=3
LINK_release := -Wl,-z,defs
LINK_debug   := -Wl,-z,defs
LINK_asan    := -fsanitize=address,undefined
LINK_tsan    := -fsanitize=thread
LINK_fuzz    := -fsanitize=address,undefined
LINK_coverage := -fprofile-instr-generate

ifneq ($(filter $(VARIANT),fuzz coverage),)
ifeq ($(findstring clang,$(CC)),)
override CC := $(or $(shell command -v clang-$(LLVM_MAJOR) || command -v clang-22 || command -v clang-19),clang)
endif
endif

WERROR ?= -Werror

# Hardening: what the OpenSSF guide asks for, of it what the compiler has for this processor.
# tests/e2e/hardening.sh looks for it in what has been built.  Not taken from it: -z nodlopen (libpipert.so is for
# dlopen too), -fexceptions (no thread is cancelled), -ftrivial-auto-var-init=zero (readers of ports have buffers of some
# KiB on the stack: a third slower; valgrind and clang-tidy look for what is not initialised).
supported = $(shell for f in $(1); do $(CC) -Werror $$f -S -x c -o /dev/null /dev/null 2>/dev/null && echo $$f; done)
HARDENED := -fstack-protector-strong -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing \
            $(call supported,-fstack-clash-protection -fcf-protection=full -mbranch-protection=standard \
                             -fstrict-flex-arrays=3 -Wformat=2 -Wtrampolines -Wbidi-chars=any)
HARDENED_LINK := -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code -Wl,--as-needed -Wl,--no-copy-dt-needed-entries
# CET (x86): the linker marks a file only if every object in it is marked, and the distribution's crti.o, crtn.o and
# Scrt1.o may not be.  So the mark is asked for, and those of their parts are left out that are entered without ENDBR64:
# _start has process_entry before it; _init and _fini, which call nothing any more, are not named.
CET_LINK  := $(if $(and $(filter x86_64%,$(shell $(CC) -dumpmachine)),$(call supported,-fcf-protection=full)),\
               -Wl$(comma)-z$(comma)ibt -Wl$(comma)-z$(comma)shstk -Wl$(comma)-init=no_init -Wl$(comma)-fini=no_fini)
CET_ENTRY := $(if $(CET_LINK),-Wl$(comma)-e$(comma)process_entry)
# No built file contains the folder of the sources or that of the build, so a build that moves with its sources goes on.
WHERE := -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(abspath $(BUILD))/=build/ -ffile-prefix-map=$(BUILD)/=build/

all_cpp := -D_GNU_SOURCE -U_FORTIFY_SOURCE $(FORTIFY_$(VARIANT)) -I. -I$(B)/gen \
           -DPIPEC_VERSION='"$(VERSION)"' $(CPPFLAGS)
# -fPIC for everything: the same objects go into the archive, the shared library and the (PIE) programs.
all_c   := -std=c11 -Wall -Wextra -Wconversion $(WERROR) -ffp-contract=off -fPIC -pthread \
           $(HARDENED) $(WHERE) $(OPT_$(VARIANT)) $(CFLAGS)
all_ld  := -pthread $(HARDENED_LINK) $(LINK_$(VARIANT)) $(LDFLAGS)
# Flex and Bison write this code, not we.
GENERATED_C := -Wno-conversion -Wno-sign-conversion -Wno-sign-compare -Wno-unused-function \
               -Wno-unused-parameter -Wno-unused-but-set-variable -Wno-misleading-indentation

# Libraries.  pkg-config is asked once, and only when something is compiled or linked.
SHARED_PKGS  := libxxhash
COMPILER_PKGS := jansson expat zlib
RUNTIME_PKGS := hwloc $(SHARED_PKGS)
TOOL_PKGS    := libpng zlib jansson
LOADED_PKGS  := sndfile # piperun loads it when a file needs it; only tests link it
once          = $(eval $(1) := $$(shell $(PKG_CONFIG) $(2)))$($(1))
RUNTIME_CPP   = $(call once,RUNTIME_CPP,--cflags $(LOADED_PKGS) $(TOOL_PKGS) $(RUNTIME_PKGS))
# The debugger's line editor: welcome, not needed.
edit_cpp      = $(call once,edit_cpp,--exists libedit 2>/dev/null && echo -DPRT_HAVE_LIBEDIT)
edit_libs     = $(call once,edit_libs,--libs libedit 2>/dev/null)
runtime_pkgs  = $(call once,runtime_pkgs,--libs $(RUNTIME_PKGS))
tool_pkgs     = $(call once,tool_pkgs,--libs $(TOOL_PKGS))
shared_pkgs   = $(call once,shared_pkgs,--libs $(SHARED_PKGS))
CMOCKA_LIBS   = $(call once,CMOCKA_LIBS,--libs cmocka $(LOADED_PKGS))
RUNTIME_LIBS  = $(runtime_pkgs) -lm -ldl
TOOL_LIBS     = $(tool_pkgs) $(RUNTIME_LIBS)
compiler_pkgs = $(call once,compiler_pkgs,--libs $(COMPILER_PKGS))
COMPILER_LIBS = $(shared_pkgs) $(compiler_pkgs) $(LLVM_LIBS) -lm -ldl
# pipec loads a shared libLLVM when it generates code (scripts/llvm_stubs.sh); tests are linked with it.
LLVM_LIBDIR  := $(shell $(LLVM_CONFIG) --libdir)
LLVM_SONAME  := $(shell readelf -d $(LLVM_LIBDIR)/lib$(patsubst -l%,%,$(filter -lLLVM%,$(LLVM_LIBS))).so 2>/dev/null \
                  | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
LLVM_STUBS   := $(if $(and $(LLVM_SONAME),$(filter x86_64%,$(shell $(CC) -dumpmachine))),$(L)/gen/llvm_stubs.o)
# The part of LLVM that pipec loads instead of libLLVM if it lies beside pipec (scripts/llvm_part.sh).
LLVM_PART    := $(if $(and $(LLVM_STUBS),$(wildcard $(LLVM_LIBDIR)/libLLVMCore.a)),libpipec-$(LLVM_SONAME))
PIPEC_LIBS    = $(shared_pkgs) $(compiler_pkgs) $(if $(LLVM_STUBS),,$(LLVM_LIBS)) -lm -ldl

# ---- Sources, by wildcard ------------------------------------------------------------------------

sources_in    = $(sort $(foreach folder,$(1),$(wildcard $(folder)/*.c $(folder)/*/*.c)))
BASE_SRC     := $(sort $(wildcard base/*.c))
LANG_SRC     := $(sort $(wildcard lang/*.c))
CORE_SRC     := $(sort $(wildcard core/*.c core/*/*.c))
MODEL_SRC    := $(sort $(wildcard model/*.c))
TOOL_SRC     := $(call sources_in,tools/piperun)
RUNTIME_SRC  := $(call sources_in,runtime runtime/backend)
COMPILER_SRC := $(filter-out compiler/commands/pipec.c,$(call sources_in,compiler compiler/optimize compiler/codegen))
GRAMMAR      := $(wildcard compiler/syntax/lexer.l compiler/syntax/parser.y)
STD_FILES    := $(sort $(wildcard lang/std/*.pipe))
DEVICE_FILES := $(sort $(wildcard lang/devices/*.dev))
RULE_FILES   := $(sort $(wildcard compiler/rules/*.md))
EDITOR_FILES := $(sort $(wildcard editors/*/*.* editors/*/*/*.*))
TOPIC_FILES  := $(sort $(wildcard compiler/topics/*.txt))
START_FILES  := $(sort $(wildcard compiler/starts/*.pipe))
PAGE_FILES   := $(sort $(wildcard compiler/page/*.*))
TEST_SRC     := $(sort $(wildcard tests/unit/test_*.c tests/conform/test_*.c tests/reference/test_*.c))
HELPER_SRC   := $(filter-out $(TEST_SRC),$(sort $(wildcard tests/unit/*.c tests/conform/*.c tests/reference/*.c) \
                  tests/fuzz/drawn_device.c tests/fuzz/stamped.c))
FUZZ_SRC     := $(sort $(wildcard tests/fuzz/fuzz_*.c))

GEN_C     := $(patsubst %.l,$(B)/gen/%.c,$(filter %.l,$(GRAMMAR))) \
             $(patsubst %.y,$(B)/gen/%.c,$(filter %.y,$(GRAMMAR)))
GEN_H     := $(GEN_C:.c=.h)
BASE_OBJ     := $(BASE_SRC:%.c=$(B)/obj/%.o)
LANG_OBJ     := $(LANG_SRC:%.c=$(B)/obj/%.o) $(B)/obj/gen/embedded_devices.o
CORE_OBJ     := $(CORE_SRC:%.c=$(B)/obj/%.o)
MODEL_OBJ    := $(MODEL_SRC:%.c=$(B)/obj/%.o)
RUNTIME_OBJ  := $(RUNTIME_SRC:%.c=$(B)/obj/%.o) $(B)/obj/gen/embedded_resident.o
COMPILER_OBJ := $(COMPILER_SRC:%.c=$(L)/%.o) $(GEN_C:$(B)/gen/%.c=$(L)/gen/%.o) \
                $(B)/obj/gen/embedded_std.o $(B)/obj/gen/embedded_rules.o \
                $(B)/obj/gen/embedded_topics.o $(B)/obj/gen/embedded_starts.o \
                $(B)/obj/gen/embedded_page.o
TESTS        := $(patsubst %.c,$(B)/tests/%,$(notdir $(TEST_SRC)))
REPLAYS      := $(if $(wildcard tests/fuzz/replay.c),$(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/replay_%))
TEST_OBJ     := $(patsubst %.c,$(B)/obj/%.o,$(TEST_SRC) $(HELPER_SRC) $(FUZZ_SRC) \
                $(wildcard tests/fuzz/replay.c tests/fuzz/damage.c tests/fault/client.c))
ENTRY_OBJ    := $(B)/obj/base/entry/process_entry.o
TOOL_OBJ     := $(patsubst %.c,$(B)/obj/%.o,$(filter-out tools/piperun/io/% tools/piperun/watch/%,$(TOOL_SRC)))
TOOL_IO_OBJ  := $(patsubst %.c,$(B)/obj/%.o,$(filter tools/piperun/io/% tools/piperun/watch/%,$(TOOL_SRC)))
MAIN_OBJ     := $(L)/compiler/commands/pipec.o $(TOOL_OBJ) $(ENTRY_OBJ)
OBJECTS      := $(LANG_OBJ) $(BASE_OBJ) $(CORE_OBJ) $(MODEL_OBJ) $(RUNTIME_OBJ) $(TOOL_IO_OBJ) $(COMPILER_OBJ) $(MAIN_OBJ)

all: $(B)/pipec $(B)/piperun $(B)/libpipert.a $(B)/libpipert.so $(B)/pipec-rules.7 ## build everything (the default)

# ---- Stamps: written when their text changes, so what depends on them follows the settings -------

stamp = @mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) > $@
quote = '$(subst ','\'',$(1))'

$(B)/flags: FORCE
	$(call stamp,$(call quote,$(CC) $(all_cpp) $(filter-out $(WHERE),$(all_c))) $(call quote,$(all_ld) $(CET_LINK) $(CET_ENTRY)))
$(L)/flags: FORCE
	$(call stamp,$(call quote,$(LLVM_CONFIG) $(COMPILER_CPP)))
$(B)/llvm-major: FORCE
	$(call stamp,$(LLVM_MAJOR))
$(B)/commit: FORCE
	$(call stamp,$(COMMIT))
$(B)/line-editor: FORCE
	$(call stamp,$(edit_cpp))
$(B)/sources: FORCE
	$(call stamp,$(BASE_SRC) $(LANG_SRC) $(CORE_SRC) $(MODEL_SRC) $(RUNTIME_SRC) $(TOOL_SRC) $(COMPILER_SRC) $(STD_FILES) $(DEVICE_FILES) $(RULE_FILES) $(TOPIC_FILES) $(START_FILES) $(HELPER_SRC))
.PHONY: FORCE
FORCE:

# ---- Compiling -----------------------------------------------------------------------------------

compile = $(or $(call say,CC,$<),$(Q)) mkdir -p $(@D) && \
          $(CC) $(all_cpp) $(1) $(all_c) $(2) -MMD -MP -c $< -o $@

$(B)/obj/%.o: %.c $(B)/flags | $(GEN_H)
	$(call compile,$(RUNTIME_CPP))
$(B)/obj/tools/piperun/line_input.o: private all_cpp += $(edit_cpp)
$(B)/obj/tools/piperun/line_input.o: $(B)/line-editor
# `make coverage` counts and `make mutation` changes the code that judges foreign bytes, the code that selects the next
# stage, and the code that threads share.
MEASURED := $(sort $(wildcard runtime/load/*.c runtime/verify/*.c tools/piperun/io/*.c runtime/sched/*.c core/*.c)) runtime/device/ring.c \
	    model/subdevice.c model/block.c model/self_driven.c model/cached_buffers.c \
	    runtime/device/subdevice_path.c lang/dispatch_codec.c
ifeq ($(VARIANT),coverage)
export LLVM_PROFILE_FILE := $(abspath $(B))/build.profraw
$(MEASURED:%.c=$(B)/obj/%.o) $(B)/obj/tests/unit/test_fifo.o: private all_c += -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc
endif
# The oracle of the tests tries everything: fast also where the rest is not optimised.
$(B)/obj/tests/reference/oracle.o: private all_c += -O2
$(B)/obj/gen/%.o: $(B)/gen/%.c $(B)/flags
	$(call compile)
$(L)/compiler/%.o: compiler/%.c $(B)/flags $(L)/flags | $(GEN_H)
	$(need_llvm)$(call compile,$(COMPILER_CPP))
names_commit := $(L)/compiler/commands/pipec.o $(B)/obj/tools/piperun/run_version.o
$(names_commit): private all_cpp += -DPIPEC_COMMIT='"$(COMMIT)"'
$(names_commit): $(B)/commit
$(L)/gen/%.o: $(B)/gen/%.c $(B)/flags $(L)/flags | $(GEN_H)
	$(need_llvm)$(call compile,$(COMPILER_CPP),$(GENERATED_C))

$(B)/gen/%.c $(B)/gen/%.h: %.l
	@mkdir -p $(@D)
	$(Q)$(FLEX) --header-file=$(B)/gen/$*.h -o $(B)/gen/$*.c $<
$(B)/gen/%.c $(B)/gen/%.h: %.y
	@mkdir -p $(@D)
	$(Q)$(BISON) -Wall -Werror --header=$(B)/gen/$*.h -o $(B)/gen/$*.c $<

$(B)/gen/embedded_std.c: scripts/embed.sh $(STD_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_std_files $(foreach f,$(STD_FILES),$(f:lang/%=%)=$(f)) > $@
$(B)/gen/embedded_devices.c: scripts/embed.sh $(DEVICE_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_device_files \
	    $(foreach f,$(DEVICE_FILES),$(basename $(notdir $(f)))=$(f)) > $@
$(B)/gen/embedded_rules.c: scripts/embed.sh $(RULE_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_rule_files \
	    $(foreach f,$(RULE_FILES),$(basename $(notdir $(f)))=$(f)) > $@
$(B)/gen/embedded_topics.c: scripts/embed.sh $(TOPIC_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_topic_files \
	    $(foreach f,$(TOPIC_FILES),$(basename $(notdir $(f)))=$(f)) > $@
$(B)/gen/embedded_starts.c: scripts/embed.sh $(START_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_start_files \
	    $(foreach f,$(START_FILES),$(basename $(notdir $(f)))=$(f)) > $@
$(B)/gen/embedded_page.c: scripts/embed.sh $(PAGE_FILES) $(B)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh embedded_page_files \
	    $(foreach f,$(PAGE_FILES),$(notdir $(f))=$(f)) > $@

# The resident scheduler for GPUs: the core and its kernel, without all that the kernel does not reach.
RESIDENT_SRC := $(wildcard core/*.c) lang/dispatch_codec.c core/resident/resident.c core/resident/launch_log.c \
                core/resident/firing_ends.c core/resident/child_tree.c
RESIDENT_C   := --target=nvptx64-nvidia-cuda -march=sm_80 --cuda-path=/nonexistent -nocudalib -Xclang -target-feature -Xclang +ptx78 \
                -fconvergent-functions -ffreestanding -std=c11 -Os -Wall -Wextra -Wconversion $(WERROR) -I.
$(B)/gpu-clang: FORCE
	$(call stamp,$(call quote,$(GPU_CLANG) $(RESIDENT_C)))
$(B)/gen/resident.ptx: $(RESIDENT_SRC) core/resident/resident_kernel.c $(wildcard core/*.h core/resident/*.h lang/*.h) $(B)/gpu-clang
	@mkdir -p $(@D)
	$(Q)if [ -n "$(GPU_CLANG)" ] && $(GPU_CLANG) --print-targets | grep -q nvptx64; then \
	    printf '#include "%s"\n' $(RESIDENT_SRC) > $(B)/gen/resident.c && \
	    $(GPU_CLANG) $(RESIDENT_C) -emit-llvm -c $(B)/gen/resident.c -o $(B)/gen/resident.bc && \
	    $(GPU_CLANG) $(RESIDENT_C) -Xclang -mlink-builtin-bitcode -Xclang $(B)/gen/resident.bc -S core/resident/resident_kernel.c -o $@.all && \
	    sed 's|[[:space:]]*//.*||; s/^[[:space:]]*//; /^$$/d' $@.all > $@; \
	else \
	    echo 'pipec: no clang for GPUs, so the device cuda is left out'; : > $@; \
	fi
$(B)/gen/embedded_resident.c: scripts/embed.sh $(B)/gen/resident.ptx
	$(Q)scripts/embed.sh embedded_resident_files scheduler=$(B)/gen/resident.ptx > $@

# ---- Linking -------------------------------------------------------------------------------------

archive = $(or $(call say,AR,$@),$(Q)) mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)
link    = $(or $(call say,LINK,$@),$(Q)) mkdir -p $(@D) && \
          $(CC) $(all_c) $(1) $(all_ld) -o $@ $(filter %.o %.a,$^)

$(B)/libbase.a: $(BASE_OBJ) $(B)/sources
	$(archive)
$(B)/libpipert.a: $(RUNTIME_OBJ) $(MODEL_OBJ) $(CORE_OBJ) $(LANG_OBJ) $(BASE_OBJ) $(B)/sources
	$(archive)
# Of base/ only the modules that the runtime uses: not those that end the process when there is no memory.
$(B)/libpipert.so.$(SOVERSION): $(RUNTIME_OBJ) $(MODEL_OBJ) $(CORE_OBJ) $(LANG_OBJ) $(B)/libbase.a $(B)/sources $(B)/pipert.map
	$(call link,$(so_flags)) $(RUNTIME_LIBS)
$(B)/libpipert.so: $(B)/libpipert.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@
# The exports of libpipert.so follow the public headers; a change of these compiles each file anew that includes them.
$(B)/pipert.map: scripts/version_script.sh $(RUNTIME_OBJ)
	$(Q)scripts/version_script.sh $(CC) $(all_cpp) > $@
so_flags = -shared $(CET_LINK) -Wl,-soname,$(@F) -Wl,--version-script=$(B)/pipert.map

$(B)/piperun: $(TOOL_OBJ) $(ENTRY_OBJ) $(B)/libpiperun.a $(B)/libpipert.a $(B)/sources
	$(call link,-pie $(CET_LINK) $(CET_ENTRY)) $(TOOL_LIBS) $(edit_libs)
# The readers and writers of piperun, and its pictures of a run: programs that embed the runtime do not need them, nor their libraries.
$(B)/libpiperun.a: $(TOOL_IO_OBJ) $(B)/sources
	$(archive)

$(L)/libpipec.a: $(COMPILER_OBJ) $(MODEL_OBJ) $(CORE_OBJ) $(B)/sources
	$(archive)
$(L)/pipec: $(L)/compiler/commands/pipec.o $(ENTRY_OBJ) $(LLVM_STUBS) $(L)/libpipec.a $(LANG_OBJ) $(BASE_OBJ) \
            $(addprefix $(L)/,$(LLVM_PART))
	$(call link,-pie $(CET_LINK) $(CET_ENTRY)) $(PIPEC_LIBS)
# The functions of LLVM that the compiler calls.  The file changes only if they do.
$(L)/gen/llvm_names.checked: $(L)/libpipec.a
	@mkdir -p $(@D)
	$(Q)nm -u $< | sed -n 's/^ *U \(LLVM[A-Za-z0-9_]*\)$$/\1/p' | sort -u > $@
	$(Q)cmp -s $@ $(@:.checked=) || cp $@ $(@:.checked=)
$(L)/gen/llvm_names: $(L)/gen/llvm_names.checked ;
$(L)/gen/llvm_stubs.c: scripts/llvm_stubs.sh $(L)/gen/llvm_names
	$(Q)scripts/llvm_stubs.sh $(LLVM_SONAME) $(L)/gen/llvm_names > $@
$(L)/libpipec-$(LLVM_SONAME): scripts/llvm_part.sh $(L)/gen/llvm_names
	@$(if $(V),,echo "  LINK    $@")
	$(Q)scripts/llvm_part.sh $(LLVM_CONFIG) $(CC) $(L)/gen/llvm_names $@
$(L)/gen/llvm_stubs.o: $(L)/gen/llvm_stubs.c $(B)/flags $(L)/flags
	$(call compile,$(COMPILER_CPP))
$(B)/pipec: $(L)/pipec $(B)/llvm-major
	$(Q)cp $< $@.tmp && mv $@.tmp $@
	$(if $(LLVM_PART),$(Q)ln -f $(L)/$(LLVM_PART) $(B)/$(LLVM_PART))

# The page of the rules, from the table and the pages of compiler/rules.
$(B)/pipec-rules.7: $(B)/pipec
	$(Q)$< explain --list --format=man > $@

# ---- Tests ---------------------------------------------------------------------------------------

# A test that includes nothing of compiler/ is linked without it: the wall holds in the tests too.
COMPILER_TESTS := $(if $(TEST_SRC)$(FUZZ_SRC),$(shell grep -lE '"compiler/|/built_container.h"' $(TEST_SRC) $(FUZZ_SRC)))
test_libs       = $(if $(filter $(1),$(COMPILER_TESTS)),$(L)/libpipec.a) $(B)/libpiperun.a $(B)/libpipert.a
compiler_tests  = $(patsubst %.c,$(B)/tests/%,$(notdir $(filter %.c,$(COMPILER_TESTS))))

$(B)/tests/libhelper.a: $(HELPER_SRC:%.c=$(B)/obj/%.o) $(B)/sources
	$(archive)
define test_rule
$(B)/tests/$(basename $(notdir $(1))): $(B)/obj/$(1:.c=.o) $(B)/tests/libhelper.a \
    $(call test_libs,$(1)) $(if $(filter $(1),$(COMPILER_TESTS)),$(B)/llvm-major)
	$$(call link,-pie) $$(CMOCKA_LIBS) $$(TOOL_LIBS) \
	    $(if $(filter $(1),$(COMPILER_TESTS)),$$(COMPILER_LIBS))
.PHONY: $(basename $(notdir $(1)))
$(basename $(notdir $(1))): $(B)/tests/$(basename $(notdir $(1)))
endef
$(foreach t,$(TEST_SRC),$(eval $(call test_rule,$(t))))

# Where each call for memory, files or work of the verifier fails in turn: the linker leads them to the test.
# tests/unit/failing_calls.c has those for memory.
wraps     = $(patsubst %,-Wl$(comma)--wrap=%,$(1))
MEMORY_LD := $(call wraps,malloc calloc realloc aligned_alloc posix_memalign free strdup strndup asprintf)
FAULTS_LD := $(MEMORY_LD) $(call wraps,mmap munmap memfd_create ftruncate mkostemps fstat pthread_mutex_init read __read_chk \
               write prt_code_work)
$(B)/tests/test_load_faults: private all_ld += $(FAULTS_LD)

# The same for reading and writing files.
IO_FAULTS_LD := $(MEMORY_LD) $(call wraps,open fcntl close fstat stat access lseek poll fsync rename mkostemp read \
                  pread write pwrite getrandom)
$(B)/tests/test_io_faults: private all_ld += $(IO_FAULTS_LD)

# The same for runs, where also threads and the device fail.
SCHED_FAULTS_LD := $(MEMORY_LD) $(call wraps,mmap munmap memfd_create ftruncate pthread_mutex_init pthread_create prt_device_choose)
$(B)/tests/test_sched_faults: private all_ld += $(SCHED_FAULTS_LD)

# The limit of a control group, which the test chooses.
QUOTA_LD := $(call wraps,prt_host_quota_memory_bytes)
$(B)/tests/test_pipert: private all_ld += $(QUOTA_LD)

# The driver of a GPU, whose calls fail.
$(B)/tests/test_cuda: private all_ld += $(call wraps,prt_emulated_driver_open)

# The helpers of tests that fuzz targets need.
HELPS_program      := conform/made_container fuzz/stamped
HELPS_container    := fuzz/stamped
HELPS_interleaving := conform/made_container conform/made_certificate fuzz/drawn_device
HELPS_subdevices   := unit/subdevice_model
fuzz_helper = $(HELPS_$(patsubst fuzz_%.c,%,$(notdir $(1))):%=$(B)/obj/tests/%.o)
# Fuzz targets: with libFuzzer in VARIANT=fuzz; with replay.c, which runs the seeds only, in all others.
define fuzz_rule
$(B)/$(basename $(notdir $(1))): $(B)/obj/$(1:.c=.o) $(call fuzz_helper,$(1)) $(call test_libs,$(1))
	$$(call link,-fsanitize=fuzzer) $$(TOOL_LIBS) \
	    $(if $(filter $(1),$(COMPILER_TESTS)),$$(COMPILER_LIBS))
$(B)/tests/replay_$(basename $(notdir $(1))): $(B)/obj/$(1:.c=.o) $(B)/obj/tests/fuzz/replay.o \
    $(call fuzz_helper,$(1)) $(call test_libs,$(1))
	$$(call link,-pie) $$(TOOL_LIBS) $(if $(filter $(1),$(COMPILER_TESTS)),$$(COMPILER_LIBS))
endef
$(foreach t,$(FUZZ_SRC),$(eval $(call fuzz_rule,$(t))))
# Every prefix and every bit of seed containers, through the fuzz target of containers.
DAMAGE := $(if $(REPLAYS),$(B)/tests/damage)
$(B)/tests/damage: $(B)/obj/tests/fuzz/damage.o $(B)/obj/tests/fuzz/fuzz_container.o $(B)/obj/tests/fuzz/stamped.o $(B)/libpipert.a
	$(call link,-pie) $(RUNTIME_LIBS)

# Adversarial schedules (tests/schedules), with a proof whose rules can be left out.
ADVERSARY     := $(if $(wildcard tests/schedules/adversary.c),$(B)/tests/adversary)
REMOVABLE_OBJ := $(patsubst %.c,$(B)/obj/removable/%.o,$(sort $(wildcard runtime/verify/*.c)) runtime/load/verify_rule.c \
                   tests/schedules/adversary.c)
SCHEDULE_OBJ  := $(patsubst %.c,$(B)/obj/%.o,$(filter-out %/adversary.c,$(sort $(wildcard tests/schedules/*.c))))
$(B)/obj/removable/%.o: %.c $(B)/flags
	$(call compile,-DPRT_VERIFY_REMOVABLE)
$(B)/tests/adversary: $(REMOVABLE_OBJ) $(SCHEDULE_OBJ) $(B)/obj/tests/fuzz/stamped.o $(B)/libpipert.a
	$(call link,-pie) $(RUNTIME_LIBS)

# A program with a pipeline in it, whose calls fail: those of libraries that devices are made of come to it, too.
CLIENT_CALLS := $(patsubst %,-Wl$(comma)--wrap=%,pthread_create mmap munmap pthread_sigmask hwloc_topology_init \
                  hwloc_topology_set_components hwloc_topology_load hwloc_topology_is_thissystem \
                  hwloc_set_cpubind hwloc_bitmap_alloc sched_getaffinity sched_getcpu sigaltstack dlopen dlsym \
                  pthread_mutex_init pthread_cond_init)
$(B)/tests/fault_client: $(B)/obj/tests/fault/client.o $(B)/libpipert.a
	$(call link,-pie) $(CLIENT_CALLS) $(RUNTIME_LIBS)

# Calls that fail (tests/fault): a library to load into a program, and a tracer of its system calls.
FAULT_TOOLS := $(B)/tests/fault_preload.so $(B)/tests/fault_tracer $(if $(filter release debug,$(VARIANT)),$(B)/tests/fault_client)
fault_tool   = $(or $(call say,CC,$<),$(Q)) mkdir -p $(@D) && $(CC) -D_GNU_SOURCE -I. -std=gnu11 -Wall -Wextra \
               -Wconversion $(WERROR) -O2 -g $(1) $< -o $@
$(B)/tests/fault_preload.so: tests/fault/preload.c tests/fault/fault_page.h $(B)/flags
	$(call fault_tool,-fPIC -shared) -ldl
$(B)/tests/fault_tracer: tests/fault/tracer.c tests/fault/fault_page.h $(B)/flags
	$(call fault_tool)

# The code by hand that tests/e2e/bench.sh compares with; `said` is why it could not be compiled (tests/bench/build.sh).
BENCH_PROGRAM := $(if $(filter release debug,$(VARIANT)),$(B)/tests/bench/said)
$(B)/tests/bench/said: $(wildcard tests/bench/*.[ch]) tests/bench/build.sh runtime/host/pipert.h $(B)/flags | $(B)/libpipert.so
	$(or $(call say,CC,tests/bench),$(Q)) mkdir -p $(@D) && \
	    { PEERS=no BENCH_OPTIMISE=-O1 BUILD=$(abspath $(B)) tests/bench/build.sh $(@D) >$@ 2>&1 || echo "exit status $$?" >>$@; }

# Tests that try some points of a sweep, and all of them with EVERY=1.
SOAKED_FAULTS := tests/e2e/fault_client.sh tests/e2e/fault_surroundings.sh

.PHONY: soak soak-faults verify-rules tests objects check check-math-all check-unit check-san check-built check-long second-pipec golden-update bench cores-bundle cuda-bundle gpu-check gpu-bundle coverage mutation mutation-run damage fuzz fuzz-run fuzz-plants
tests: $(TESTS) $(REPLAYS) $(DAMAGE) $(ADVERSARY) $(FAULT_TOOLS) $(BENCH_PROGRAM) ## build the unit tests without running them
objects: $(OBJECTS) $(TEST_OBJ) ## compile everything, link nothing
second-pipec: $(L)/pipec

run_tests = VARIANT=$(VARIANT) BUILD=$(abspath $(B)) LLVM_MAJOR=$(LLVM_MAJOR) $(1) \
            tests/run.sh $(TESTFLAGS)
# A make of its own, that sees what scripts/deps.sh has just installed, on all cores unless -j was given.
submake   = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

check: ## install what is missing, build the variant, run every test (4 minutes on two cores)
	@scripts/deps.sh test
	+@$(submake) check-built
check-long: ## the long cases as a whole: of these, `make check` does a part (half an hour)
	@scripts/deps.sh long
	+@$(submake) check-built TESTFLAGS="--long $(TESTFLAGS)"
check-built: all tests
	$(if $(LLVM2_CONFIG),+@$(submake) second-pipec LLVM_CONFIG=$(LLVM2_CONFIG))
	@$(call run_tests,PIPEC2=$(if $(LLVM2_CONFIG),$(abspath $(B))/llvm19/pipec))
check-unit: tests ## build and run the unit tests only
	@$(call run_tests) tests/unit
check-san: ## make check under AddressSanitizer + UBSan, then under ThreadSanitizer
	@$(MAKE) check VARIANT=asan
	@$(MAKE) check VARIANT=tsan
check-math-all: all ## the f32 library over all 2^32 inputs (hours)
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec \
	    PIPERUN=$(abspath $(B))/piperun MATH_ALL=1 TMP=$$(mktemp -d) sh tests/e2e/math.sh
soak-faults: all tests ## each call of pipec, piperun and a program with a pipeline fails, one after the other (an hour)
	@work=$$(mktemp -d) && TMP=$$work python3 tests/fault/sweep.py $(abspath $(B)); status=$$?; rm -rf $$work; exit $$status
	@$(call run_tests,EVERY=1 KILLS=$(or $(KILLS),100) SEED=$(or $(SEED),1)) -v $(SOAKED_FAULTS)
soak: all ## N drawn programs from SEED on against the reference interpreter; what differs is kept in $(BUILD)/soak
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec PIPERUN=$(abspath $(B))/piperun \
	    SOAK=1 EACH=$(or $(EACH),18) N=$(or $(N),1000) SEED=$(or $(SEED),1) KEEP=$(abspath $(B))/soak \
	    TMP=$$(mktemp -d) sh tests/e2e/oracle.sh
verify-rules: ## leave out each rule of the verifier in turn: some test has to fail (several minutes)
	@BUILD=$(BUILD) scripts/verify_rules.sh
golden-update: all ## rewrite the expected files of tests/golden and tests/reject; review the diff
	@$(call run_tests) --bless tests/golden tests/reject

bench: all ## run tests/bench/run.sh
	@[ -x tests/bench/run.sh ] || { echo "there is no tests/bench/run.sh"; exit 2; }
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec \
	    PIPERUN=$(abspath $(B))/piperun tests/bench/run.sh
gpu-check: all ## tests and N drawn programs from SEED on, on the GPU of this machine
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) CC="$(CC)" tests/gpu/check.sh $(or $(N),2000) $(or $(SEED),1)
gpu-bundle: all ## build/gpu-bundle: gpu-check, and kernels one by one, for a machine with a GPU and no compiler (run.sh)
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec CC="$(CC)" tests/gpu/bundle.sh $(BUILD)/gpu-bundle
cores-bundle: all ## build/cores-bundle: `ONLY=cores make bench` for a machine without a compiler (run.sh THREADS...)
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec tests/bench/cores/bundle.sh $(BUILD)/cores-bundle
cuda-bundle: all ## build/cuda-bundle: `ONLY=cuda make bench` for a machine with a GPU and no compiler (run.sh)
	@ROOT=$(CURDIR) BUILD=$(abspath $(B)) PIPEC=$(abspath $(B))/pipec tests/bench/cuda/bundle.sh $(BUILD)/cuda-bundle

coverage: ## which branches and conditions of loader, files, scheduler, FIFO and sub-devices no test takes
	@scripts/deps.sh fuzz
	+@$(submake) VARIANT=coverage $$(scripts/coverage.py $(BUILD)/coverage)
	@scripts/coverage.py $(BUILD)/coverage $(MEASURED)
mutation: ## N mutants of each of FILES (by default those that `make coverage` is about), drawn by SEED
	+@$(submake) mutation-run VARIANT=debug
mutation-run: tests
	@CC="$(CC)" MUTATION_LIBS="$(CMOCKA_LIBS) $(TOOL_LIBS) $(COMPILER_LIBS) -pthread" MUTATION_FAULTS="$(FAULTS_LD)" \
	    MUTATION_IO_FAULTS="$(IO_FAULTS_LD)" MUTATION_SCHED_FAULTS="$(SCHED_FAULTS_LD)" MUTATION_QUOTA="$(QUOTA_LD)" \
	    tests/mutation/mutate.py -n $(or $(N),20) -s $(or $(SEED),1) $(B) $(or $(FILES),$(MEASURED))

damage: all $(DAMAGE) ## every prefix and every single-bit flip of seed containers (a quarter of an hour)
	@tests/fuzz/seeds.sh $(B)/pipec $(B)/damaged
	@$(B)/tests/damage 1 $(B)/damaged/*.pbc

fuzz-plants: ## plant a bug for each fuzz target in a copy of the sources: its seeds have to find it (minutes)
	@BUILD=$(BUILD) CC="$(CC)" scripts/fuzz_plants.sh
fuzz: ## run every fuzz target for T seconds (T=60)
	@scripts/deps.sh fuzz
	+@$(submake) fuzz-run VARIANT=fuzz
fuzz-run: $(B)/pipec $(FUZZ_SRC:tests/fuzz/%.c=$(B)/%)
	$(if $(FUZZ_SRC),,@echo "no fuzz targets: tests/fuzz/fuzz_*.c does not exist")
	@$(foreach f,$(FUZZ_SRC:tests/fuzz/%.c=%),scripts/fuzz.sh $(B)/$(f) $(T) &&) true

# ---- Everything else -----------------------------------------------------------------------------

.PHONY: run deps lint format flags install install-strip vsix uninstall dist deb clean help
run: ## install what is missing, build, run the example
	@scripts/deps.sh build
	+@$(submake) all
	@PIPEC=$(B)/pipec PIPERUN=$(B)/piperun scripts/run_example.sh
deps: ## install the packages that building and testing need
	@scripts/deps.sh test
lint: ## warnings, style and structure, as errors
	@scripts/deps.sh lint
	@BUILD=$(BUILD) scripts/lint.sh
format: ## rewrite the sources as .clang-format says
	@scripts/lint.sh --format
# For scripts/lint.sh: the flags of the compiler half include those of the runtime half.
flags:
	@printf '%s\n' $(call quote,$(all_cpp) $(RUNTIME_CPP) $(COMPILER_CPP) -std=c11)
flags-headers: $(GEN_H)
.PHONY: flags-headers

D  := $(DESTDIR)$(PREFIX)
DL := $(DESTDIR)$(LIBDIR)
# pipert.h, pipert_debug.h, pipert_queue.h and what they include, by the compiler's own account.
public_headers = $(sort $(filter %.h %.def,\
                   $(shell $(CC) $(all_cpp) -MM runtime/host/pipert.h runtime/host/pipert_debug.h runtime/host/pipert_queue.h)))
COMPLETIONS := $(addprefix $(D)/share/,bash-completion/completions/pipec zsh/site-functions/_pipec \
                 fish/vendor_completions.d/pipec.fish bash-completion/completions/piperun fish/vendor_completions.d/piperun.fish)
installed = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@VERSION@|$(VERSION)|g' \
              -e 's|@SOVERSION@|$(SOVERSION)|g' -e 's|@LIBS@|$(RUNTIME_LIBS)|g' packaging/$(1).in > $(2)/$(1)
install: all ## install into $(DESTDIR)$(PREFIX), libraries into $(DESTDIR)$(LIBDIR)
	$(INSTALL) -d $(D)/bin $(DL)/pkgconfig $(DL)/cmake/Pipec $(D)/include/pipec \
	    $(D)/share/pipec/std $(D)/share/pipec/devices
	$(INSTALL) -m 755 $(STRIP) $(B)/pipec $(B)/piperun $(D)/bin
	$(INSTALL) -m 644 $(B)/libpipert.a $(DL)
	$(INSTALL) -m 644 $(STRIP) $(B)/libpipert.so.$(SOVERSION) $(DL)
	ln -sf libpipert.so.$(SOVERSION) $(DL)/libpipert.so
	$(call installed,pipert.pc,$(DL)/pkgconfig)
	$(call installed,pipec.pc,$(DL)/pkgconfig)
	$(call installed,PipecConfig.cmake,$(DL)/cmake/Pipec)
	$(call installed,PipecConfigVersion.cmake,$(DL)/cmake/Pipec)
	for h in $(public_headers); do \
	    case $$h in runtime/host/pipert.h|runtime/host/pipert_debug.h|runtime/host/pipert_queue.h) to=$${h##*/};; *) to=$$h;; esac; \
	    $(INSTALL) -D -m 644 $$h $(D)/include/pipec/$$to || exit 1; done
	for f in $(STD_FILES) $(DEVICE_FILES); do \
	    $(INSTALL) -m 644 $$f $(D)/share/pipec/$${f#lang/} || exit 1; done
	for m in $(wildcard man/*.[1-8]) $(B)/pipec-rules.7; do \
	    $(INSTALL) -D -m 644 $$m $(D)/share/man/man$${m##*.}/$${m##*/} || exit 1; done
	for f in $(EDITOR_FILES); do $(INSTALL) -D -m 644 $$f $(D)/share/pipec/$$f || exit 1; done
	$(INSTALL) -d $(dir $(COMPLETIONS))
	$(B)/pipec complete bash > $(word 1,$(COMPLETIONS))
	$(B)/pipec complete zsh > $(word 2,$(COMPLETIONS))
	$(B)/pipec complete fish > $(word 3,$(COMPLETIONS))
	ln -sf pipec $(word 4,$(COMPLETIONS))
	ln -sf pipec.fish $(word 5,$(COMPLETIONS))
	$(INSTALL) -D -m 644 LICENSE $(D)/share/doc/pipec/LICENSE
install-strip: ## install without debugging information
	@$(MAKE) install STRIP=-s
uninstall: ## remove what install put there
	rm -f $(D)/bin/pipec $(D)/bin/piperun $(DL)/libpipert.a $(DL)/libpipert.so $(DL)/libpipert.so.$(SOVERSION) \
	    $(DL)/pkgconfig/pipert.pc $(DL)/pkgconfig/pipec.pc $(COMPLETIONS)
	for m in $(wildcard man/*.[1-8]) pipec-rules.7; do rm -f $(D)/share/man/man$${m##*.}/$${m##*/}; done
	rm -rf $(DL)/cmake/Pipec $(D)/include/pipec $(D)/share/pipec $(D)/share/doc/pipec
vsix: $(B)/pipec.vsix ## the extension for Visual Studio Code
$(B)/pipec.vsix: scripts/vsix.py LICENSE $(EDITOR_FILES)
	@mkdir -p $(@D)
	$(Q)scripts/vsix.py editors/vscode LICENSE $@
dist: ## a source archive of the committed tree
	@mkdir -p $(BUILD)
	git archive --prefix=pipec-$(VERSION)/ --add-virtual-file=pipec-$(VERSION)/.commit:$(COMMIT) -o $(BUILD)/pipec-$(VERSION).tar.gz HEAD
deb: ## Debian packages of this tree, in $(BUILD)/deb
	@scripts/deb.sh $(BUILD)/deb
print-%: # the value of a variable, for scripts
	@printf '%s\n' $(call quote,$($*))
clean: ## remove the build folder
	rm -rf $(BUILD)
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

-include $(patsubst %.o,%.d,$(OBJECTS) $(TEST_OBJ) $(REMOVABLE_OBJ) $(SCHEDULE_OBJ))
