# make build      the programs, optimized, with their manual pages and completions
# make demo       records from synthetic devices, after asking once; make demo-reset forgets the answer
# make check      every test there is; closes with `N passed, N failed`
# make libcapture the client library in C, into .build/libcapture; CC and CFLAGS are honoured. `make build` does this, too
# make captured-alsa  the ALSA plugin, into .build/captured-alsa. `make build` does this, too
# make captured-v4l2  the library for V4L2 programs, and capture-run, into .build/captured-v4l2. `make build` does this, too
# make captured-pipewire  the bridge for PipeWire's clients, into .build/release. `make build` does this, too
# make docs-web   CaptureKit's documentation as web pages, into .build/docs
# make attacks    every attack on consent, in the test machine and on the bridges: what it tried, what was refused, how the
#                 journal shows it
# make fuzz       libFuzzer on everything that parses bytes from outside
# make scale      a library of a million assets beside one of ten thousand: pages, counts, differences, as ratios
# make bench      measures against other programs, as root, in about half an hour after the build; into .build/bench.json
#                 and .build/bench/table.svg
# make install    PREFIX (/usr/local), DESTDIR and SYSCONFDIR (/etc) are honoured; nothing is built here
# make deb        Debian packages of what is built, into .build/deb
# make uninstall  stops the services and removes what install put there; answers and configuration stay
# make setup      the system packages that building takes, when some are missing (Debian and its relatives)

SWIFT ?= swift
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=

bindir := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec
libdir := $(PREFIX)/lib
# Debian has a folder for each architecture.
archlibdir ?= $(libdir)
# libasound looks for its plugins in the folder beside itself alone; elsewhere it takes their whole path.
alsalib := $(if $(wildcard $(archlibdir)/libasound.so.2),,$(archlibdir)/alsa-lib/)
alsaconf := $(PREFIX)/share/alsa/alsa.conf.d
includedir := $(PREFIX)/include/libcapture
datadir := $(PREFIX)/share
# Debian's interpreter looks into a folder for all versions below /usr, and into one of its own version below /usr/local.
python := $(if $(filter /usr,$(PREFIX)),3,$(or $(shell /usr/bin/python3 -c 'print("%d.%d" % __import__("sys").version_info[:2])' 2>/dev/null),3))
pythondir := $(PREFIX)/lib/python$(python)/dist-packages/capturekit
docdir := $(datadir)/doc/captured
catalog := Sources/CaptureKit/Documentation.docc
# CaptureKit, and what it is made of.
capturekit := CaptureKit CaptureMessages MediaConversion CaptureBus CaptureRing CaptureSystem CaptureCore CLinux CBus \
	CSystemd CLibAV CTurboJPEG CYUV
capturekitdir := $(datadir)/captured/CaptureKit
# Neither D-Bus nor polkit looks below /usr/local for what decides about permissions.
buspolicydir := $(if $(filter /usr,$(PREFIX)),/usr/share/dbus-1/system.d,$(SYSCONFDIR)/dbus-1/system.d)
polkitdir := /usr/share/polkit-1/actions

release := .build/release
generated := .build/generated
built := .build/programs.built
build := $(SWIFT) build -c release --static-swift-stdlib

# The client library in C. Swift's toolchain has a compiler, if there is no other.
ifeq ($(origin CC),default)
CC := $(notdir $(firstword $(shell command -v cc clang)))
endif
CFLAGS ?= -O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2
libcapture := .build/libcapture
alsa := .build/captured-alsa
alsa_plugin := $(alsa)/libasound_module_pcm_captured.so
pipewire := $(release)/captured-pipewire
v4l2 := .build/captured-v4l2
version = $(shell sed -n 's/.*text = "\(.*\)".*/\1/p' Sources/CaptureCore/CaptureVersion.swift)
strict := -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes

build_packages := pkg-config libsystemd-dev libudev-dev libasound2-dev libv4l-dev libavformat-dev libavcodec-dev \
	libavutil-dev libswscale-dev libswresample-dev libturbojpeg0-dev libexif-dev libtiff-dev libyuv-dev libsqlite3-dev \
	libssl-dev libgtk-3-dev libpipewire-0.3-dev
demo_packages := dbus
check_packages := man-db strace flatpak python3 python3-dbus python3-gi python3-numpy python3-venv desktop-file-utils bubblewrap xvfb \
	xdotool xdg-desktop-portal-gtk libgtk-4-dev ffmpeg libraw-bin darktable libimage-exiftool-perl python3-pil mediainfo \
	mkvtoolnix pipewire pipewire-bin pipewire-pulse pulseaudio-utils wireplumber gstreamer1.0-pipewire zsh fish alsa-utils sox libsox-fmt-alsa python3-pyaudio \
	v4l-utils gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-alsa \
	python3-opencv mpv libpulse-dev
browsers_packages := firefox-esr chromium obs-studio cheese
deb_packages := build-essential debhelper lintian
bench_packages := libturbojpeg0-dev strace ffmpeg v4l-utils alsa-utils gstreamer1.0-tools gstreamer1.0-plugins-base \
	gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-alsa \
	libpipewire-0.3-dev pipewire

.PHONY: all again build programs libcapture captured-alsa captured-v4l2 captured-pipewire docs docs-web demo demo-reset check attacks browsers fuzz tests scale bench install install-capturekit deb \
	uninstall setup setup-demo setup-check setup-bench setup-deb
.NOTPARALLEL:

all: build

build: setup programs libcapture captured-alsa captured-v4l2 captured-pipewire docs

products := captured captured-recorder captured-door captured-picker capturectl capture-bench-reader \
	capture-revocation-subject capture-controls-subject
# Folders are among them, so that a file that was removed is noticed; a toolchain that was replaced is, too. A stamp has the
# time at which its build began: what changes meanwhile is built the next time.
sources := Package.swift $(wildcard Package.resolved) $(shell find Sources Tests/Benchmarks/Reader Tests/Revocation/Subject Tests/Controls/Subject) $(shell command -v $(firstword $(SWIFT)))

programs: $(built)
docs: $(generated)/.docs

# By name: all there is includes a dynamic library of a dependency, which nothing here uses.
$(built): $(sources) $(if $(filter-out $(wildcard $(release)/*),$(products:%=$(release)/%)),again)
	@[ -e Package.resolved ] || $(SWIFT) package resolve
	@mkdir -p $(@D) && touch $@.began
	@for program in $(products); do \
		$(build) --product $$program || exit 1; \
	done
	@mv $@.began $@

libcapture: $(libcapture)/libcapture.so.0 $(libcapture)/libcapture.pc

# A function that is not in capture.h is not visible, and every symbol has to be found.
$(libcapture)/libcapture.so.0: $(wildcard Sources/libcapture/*) Sources/CaptureCore/CaptureVersion.swift
	@mkdir -p $(@D)
	$(CC) $(strict) $(CFLAGS) -fPIC -fvisibility=hidden -DCAPTURE_VERSION='"$(version)"' -shared -o $@ \
		Sources/libcapture/*.c -Wl,-soname,$(@F) -Wl,--version-script=Sources/libcapture/libcapture.map \
		-Wl,-z,relro,-z,now,-z,defs $(LDFLAGS) $$(pkg-config --cflags --libs libsystemd) -pthread
	@ln -sf $(@F) $(@D)/libcapture.so

captured-v4l2: $(v4l2)/libcaptured-v4l2.so $(v4l2)/capture-run

# It loads libcapture when a program opens a camera; the link is for programs that run from the checkout.
$(v4l2)/libcaptured-v4l2.so: $(wildcard Sources/captured-v4l2/*) Sources/libcapture/capture.h
	@mkdir -p $(@D)
	$(CC) $(strict) $(CFLAGS) -fPIC -fvisibility=hidden -ISources/libcapture -shared -o $@ Sources/captured-v4l2/*.c \
		-Wl,-soname,$(@F) -Wl,--version-script=Sources/captured-v4l2/shim.map -Wl,-z,relro,-z,now,-z,defs $(LDFLAGS) \
		-pthread
	@ln -sf ../libcapture/libcapture.so.0 $(@D)/libcapture.so.0

$(v4l2)/capture-run: Sources/captured-v4l2/run/capture-run.c Sources/CaptureCore/CaptureVersion.swift
	@mkdir -p $(@D)
	$(CC) $(strict) $(CFLAGS) -DCAPTURE_VERSION='"$(version)"' -o $@ $< $(LDFLAGS)

# For programs that are built against the checkout: PKG_CONFIG_PATH=.build/libcapture
$(libcapture)/libcapture.pc: config/libcapture.pc Sources/CaptureCore/CaptureVersion.swift
	@mkdir -p $(@D)
	@sed 's|@archlibdir@|$(CURDIR)/$(libcapture)|; s|@includedir@|$(CURDIR)/Sources/libcapture|; s|@version@|$(version)|' $< > $@

captured-pipewire: $(pipewire)

# Beside the daemon, which knows its bridge by that. PipeWire's headers are not written for all of these warnings.
$(pipewire): $(wildcard Sources/captured-pipewire/*) $(libcapture)/libcapture.so.0
	@mkdir -p $(@D)
	$(CC) $(strict) $(CFLAGS) -DCAPTURE_VERSION='"$(version)"' -ISources/libcapture -o $@ Sources/captured-pipewire/*.c \
		-Wl,-z,relro,-z,now,-z,defs $(LDFLAGS) -L$(libcapture) -l:libcapture.so.0 -lm \
		$$(pkg-config --cflags --libs libpipewire-0.3 libsystemd | sed 's/-I/-isystem /g') -pthread

captured-alsa: $(alsa_plugin)

# On libcapture, as it is installed. A name that libasound looks for says so in its source.
$(alsa_plugin): $(wildcard Sources/captured-alsa/*) $(libcapture)/libcapture.so.0
	@mkdir -p $(@D)
	$(CC) $(strict) $(CFLAGS) -fPIC -DPIC -fvisibility=hidden -ISources/libcapture -shared -o $@ Sources/captured-alsa/*.c \
		-Wl,-z,relro,-z,now,-z,defs $(LDFLAGS) -L$(libcapture) -l:libcapture.so.0 $$(pkg-config --cflags --libs alsa) -pthread

$(generated)/.docs: $(built)
	$(build) --product generate-manual
	@rm -rf $(generated) && mkdir -p $(generated)/man $(generated)/completions
	@$(release)/generate-manual $(release)/capturectl --multi-page --output-directory $(generated)/man \
		--date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"
	@for shell in bash zsh fish; do \
		$(release)/capturectl --generate-completion-script $$shell > $(generated)/completions/$$shell || exit 1; \
	done
	@touch $@

# From the compiled modules, so nothing is built twice.
docs-web: programs
	Tests/Documentation/build $(release) .build/docs

demo: setup-demo build
	@Tests/Demo/demo

demo-reset:
	rm -rf $${DEMO_STATE:-.build/demo}

# `.ci/check` installs what the tests need while it builds the programs.
check: setup
	@.ci/check

attacks: setup-check build
	@Tests/VM/run --verbose $(patsubst Tests/VM/suites/%.sh,%,$(wildcard Tests/VM/suites/3[4-8]-*.sh \
		Tests/VM/suites/6[0-3]-attacks-*.sh Tests/VM/suites/70-library.sh))
	@Tests/PipeWire/attacks

# Not part of `check`: its packages are large.
browsers: setup-browsers build
	@Tests/Browsers/test

fuzz: setup
	@Tests/Fuzz/run

# The programs, and the unit tests where `make check` compiles them.
tests: setup
	@.ci/check build

scale: tests
	@CAPTURE_LIBRARY_ASSETS=1000000 .build/check/debug/capturedPackageTests.xctest --testing-library swift-testing \
		--filter "A large library"

# With the tests: one row is `make scale`, and no contender is measured beside a compiler.
bench: setup-bench tests
	@Tests/Benchmarks/run --output .build/bench.json

# Quick when nothing is missing. As root, else through sudo.
install_packages = @missing=; for package in $(1); do \
		dpkg-query -W -f='$${db:Status-Abbrev}' $$package 2>/dev/null | grep -q ^ii || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	command -v apt-get >/dev/null || { echo "install the equivalents of these packages:$$missing" >&2; exit 0; }; \
	echo "installing$$missing"; \
	if [ "$$(id -u)" = 0 ]; then as=; else as=sudo; fi; \
	get="$$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300"; \
	$$get install -y --no-install-recommends $$missing >/dev/null || \
		{ $$get update && $$get install -y --no-install-recommends $$missing >/dev/null; }

setup:
	@command -v $(firstword $(SWIFT)) >/dev/null || { echo "Swift 6.3 is needed: https://swift.org/install" >&2; exit 69; }
	$(call install_packages,$(build_packages))
setup-demo: setup
	$(call install_packages,$(demo_packages))
setup-check: setup-demo setup-deb
	$(call install_packages,$(check_packages))
	@if [ "$$(id -u)" = 0 ]; then Tests/VM/setup; else sudo -E Tests/VM/setup; fi
setup-browsers: setup-check
	$(call install_packages,$(browsers_packages))
setup-deb: setup
	$(call install_packages,$(deb_packages))
setup-bench: setup-check
	$(call install_packages,$(bench_packages))

# Where each file goes: MODE SOURCE TARGET. `fill` puts the folders of the programs in, `strip` is for a compiled program
# and `library` for a compiled library, `link` makes a symbolic link, and `text` has links lead to where the files that
# they name are installed.
# One list for install and uninstall.
define files
strip $(release)/capturectl $(bindir)/capturectl
strip $(release)/captured $(libexecdir)/captured
strip $(release)/captured-recorder $(libexecdir)/captured-recorder
strip $(release)/captured-door $(libexecdir)/captured-door
strip $(release)/captured-picker $(libexecdir)/captured-picker
library $(libcapture)/libcapture.so.0 $(archlibdir)/libcapture.so.0
link libcapture.so.0 $(archlibdir)/libcapture.so
library $(v4l2)/libcaptured-v4l2.so $(archlibdir)/captured/libcaptured-v4l2.so
strip $(v4l2)/capture-run $(bindir)/capture-run
strip $(pipewire) $(libexecdir)/captured-pipewire
fill systemd/captured-pipewire.service $(libdir)/systemd/user/captured-pipewire.service
644 config/captured-pipewire.sysusers $(libdir)/sysusers.d/captured-pipewire.conf
fill config/captured-pipewire.tmpfiles $(libdir)/tmpfiles.d/captured-pipewire.conf
fill config/libcapture.pc $(archlibdir)/pkgconfig/libcapture.pc
644 Sources/libcapture/capture.h $(includedir)/capture.h
library $(alsa_plugin) $(archlibdir)/alsa-lib/$(notdir $(alsa_plugin))
fill config/alsa/50-captured.conf $(alsaconf)/50-captured.conf
fill config/alsa/99-zz-captured-default.conf $(alsaconf)/99-zz-captured-default.conf
link $(alsaconf)/50-captured.conf $(SYSCONFDIR)/alsa/conf.d/50-captured.conf
$(foreach file,$(wildcard Sources/python/capturekit/*.py) Sources/python/capturekit/py.typed,644 $(file) $(pythondir)/$(notdir $(file))
)fill systemd/captured.service $(libdir)/systemd/system/captured.service
fill systemd/captured-recorder.socket $(libdir)/systemd/system/captured-recorder.socket
fill systemd/captured-recorder@.service $(libdir)/systemd/system/captured-recorder@.service
fill systemd/captured-agent.service $(libdir)/systemd/user/captured-agent.service
644 config/captured.sysusers $(libdir)/sysusers.d/captured.conf
644 config/captured.tmpfiles $(libdir)/tmpfiles.d/captured.conf
644 config/captured.conf $(libdir)/captured/captured.conf
fill config/captured-lockdown.rules $(libdir)/captured/lockdown.rules
fill config/captured-lockdown.conf $(libdir)/captured/lockdown.conf
755 config/captured-lockdown-nodes $(libexecdir)/captured-lockdown-nodes
644 config/org.capturekit.Capture1.service $(datadir)/dbus-1/system-services/org.capturekit.Capture1.service
644 config/org.capturekit.Capture1.conf $(buspolicydir)/org.capturekit.Capture1.conf
644 config/org.capturekit.capture1.policy $(polkitdir)/org.capturekit.capture1.policy
fill config/capturectl.desktop $(datadir)/applications/capturectl.desktop
fill config/capturectl-preview.desktop $(datadir)/applications/capturectl-preview.desktop
644 $(generated)/completions/bash $(datadir)/bash-completion/completions/capturectl
644 $(generated)/completions/zsh $(datadir)/zsh/site-functions/_capturectl
644 $(generated)/completions/fish $(datadir)/fish/vendor_completions.d/capturectl.fish
text README.md $(docdir)/README.md
text CONTRIBUTING.md $(docdir)/CONTRIBUTING.md
$(foreach page,$(wildcard docs/*.md),text $(page) $(docdir)/docs/$(notdir $(page))
)$(foreach page,$(wildcard $(catalog)/*.md),text $(page) $(docdir)/CaptureKit/$(notdir $(page))
)text Tests/VM/README.md $(docdir)/docs/test-machine.md
644 Tests/CaptureRingTests/read_ring.py $(docdir)/docs/read_ring.py
644 config/captured.conf $(docdir)/config/captured.conf
644 config/org.capturekit.Capture1.xml $(docdir)/config/org.capturekit.Capture1.xml
644 LICENSE $(docdir)/LICENSE
text examples/README.md $(docdir)/examples/README.md
$(foreach example,$(wildcard examples/*.swift examples/*.c),644 $(example) $(docdir)/$(example)
)$(foreach example,$(wildcard examples/*.py),755 $(example) $(docdir)/$(example)
)$(foreach schema,$(wildcard docs/schemas/*.json),644 $(schema) $(datadir)/captured/schemas/$(notdir $(schema))
)$(foreach page,$(wildcard $(generated)/man/capturectl*.1),644 $(page) $(datadir)/man/man1/$(notdir $(page))
)$(foreach page,$(wildcard docs/man/*),644 $(page) $(datadir)/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))
)$(foreach xml,$(wildcard config/org.capturekit.*.xml),644 $(xml) $(datadir)/dbus-1/interfaces/$(notdir $(xml))
)
endef
export files

install:
	@test -x $(release)/captured -a -d $(generated)/man -a -f $(libcapture)/libcapture.so.0 -a -f $(alsa_plugin) -a -f $(v4l2)/libcaptured-v4l2.so -a -f $(pipewire) || { echo "nothing is built yet: make build" >&2; exit 69; }
	@set -e; echo "$$files" | while read -r mode source target; do \
		case $$mode in \
		"") continue ;; \
		fill) install -D -m 644 "$$source" "$(DESTDIR)$$target"; \
			sed -i 's|@libexecdir@|$(libexecdir)|; s|@bindir@|$(bindir)|; s|@archlibdir@|$(archlibdir)|; s|@includedir@|$(includedir)|; s|@version@|$(version)|; s|@alsalib@|$(alsalib)|' \
				"$(DESTDIR)$$target" ;; \
		text) install -D -m 644 "$$source" "$(DESTDIR)$$target"; \
			sed -i 's|](\(\.\./\)\?$(catalog)/|](\1CaptureKit/|g; s|](\.\./Tests/VM/README.md)|](test-machine.md)|g; s|](\.\./Tests/CaptureRingTests/|](|g; s|](Tests/VM/README.md)|](docs/test-machine.md)|g' \
				"$(DESTDIR)$$target" ;; \
		strip | library) [ "$$mode" = strip ] && mode=755 || mode=644; \
			install -D --strip -m "$$mode" "$$source" "$(DESTDIR)$$target.new"; \
			mv -f "$(DESTDIR)$$target.new" "$(DESTDIR)$$target" ;; \
		link) mkdir -p "$$(dirname "$(DESTDIR)$$target")"; ln -sf "$$source" "$(DESTDIR)$$target" ;; \
		*) install -D -m "$$mode" "$$source" "$(DESTDIR)$$target" ;; \
		esac; \
	done
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
		echo "installed; now, as root:"; \
		echo "  ldconfig && systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload && systemctl reload dbus"; \
		echo "  systemctl enable --now captured-recorder.socket captured.service"; \
		echo "and for questions on the desktop, each person there:"; \
		echo "  systemctl --user enable --now captured-agent.service"; \
	fi

# CaptureKit's sources, as a package that programs depend on by its path.
install-capturekit:
	@install -d "$(DESTDIR)$(capturekitdir)/Sources"
	@cp -RL --no-preserve=mode,ownership $(addprefix Sources/,$(capturekit)) "$(DESTDIR)$(capturekitdir)/Sources"
	@install -m 644 config/CaptureKit.Package.swift "$(DESTDIR)$(capturekitdir)/Package.swift"

deb: setup-deb build
	@debian/build

# A link in ALSA's folder that leads nowhere would take all programs their sound; a library in ld.so.preload that is missing
# would have each print an error.
# While the lockdown is on, the nodes of cameras and microphones are the daemon's alone. Recordings that run are finished.
uninstall:
	@if [ -e "$(DESTDIR)/etc/udev/rules.d/73-captured-lockdown.rules" ] || \
			[ -e "$(DESTDIR)/etc/systemd/system/captured.service.d/lockdown.conf" ]; then \
		echo "the lockdown is on, and without captured nobody could capture; first, as root: capturectl lockdown off" >&2; \
		exit 69; \
	fi
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then config/captured-stop; fi
	@if grep -qs "$(archlibdir)/captured/libcaptured-v4l2.so" "$(DESTDIR)/etc/ld.so.preload"; then \
		sed -i --follow-symlinks -E '\@$(archlibdir)/captured/libcaptured-v4l2[.]so@{s@(^|[[:space:]:])$(archlibdir)/captured/libcaptured-v4l2[.]so($$|[[:space:]:#])@\1\2@g;/^[[:space:]:]*$$/d}' \
			"$(DESTDIR)/etc/ld.so.preload"; \
		[ -s "$(DESTDIR)/etc/ld.so.preload" ] || rm -f "$(DESTDIR)/etc/ld.so.preload"; \
	fi
	@echo "$$files" | while read -r mode source target; do \
		if [ -n "$$mode" ]; then rm -f "$(DESTDIR)$$target"; fi; \
	done
	@rm -f "$(DESTDIR)$(SYSCONFDIR)/alsa/conf.d/99-zz-captured-default.conf"
	@rm -rf "$(DESTDIR)$(pythondir)/__pycache__"
	@rm -rf "$(DESTDIR)$(capturekitdir)"
	@for folder in $(addprefix $(docdir)/,docs CaptureKit config examples) $(docdir) $(datadir)/captured/schemas \
			$(datadir)/captured $(libdir)/captured $(archlibdir)/captured $(includedir) $(pythondir); do rmdir "$(DESTDIR)$$folder" 2>/dev/null || true; done
	@if [ -z "$(DESTDIR)" ]; then \
		if [ -d /run/systemd/system ]; then config/captured-stop finish; fi; \
		echo "uninstalled; to purge what is left (answers, history, media library, configuration, user), as root:"; \
		echo "  rm -rf /var/lib/captured /etc/captured && userdel captured"; \
	fi
