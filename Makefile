# make build      the programs, optimized, with their manual pages and completions
# make demo       records from synthetic devices, after asking once; make demo-reset forgets the answer
# make check      every test there is; closes with `N passed, N failed`
# make attacks    every attack on consent, in the test machine: what it tried, what was refused, how the journal shows it
# make fuzz       libFuzzer on everything that parses bytes from outside
# make scale      a library of a million assets beside one of ten thousand: pages, counts, differences, as ratios
# make bench      measures against other programs, into .build/bench.json
# make install    PREFIX (/usr/local), DESTDIR and SYSCONFDIR (/etc) are honoured; nothing is built here
# make uninstall  takes away what install put there; answers and configuration stay
# make setup      the system packages that building takes, when some are missing (Debian and its relatives)

SWIFT ?= swift
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=

bindir := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec
libdir := $(PREFIX)/lib
datadir := $(PREFIX)/share
# Neither D-Bus nor polkit looks below /usr/local for what decides about permissions.
buspolicydir := $(if $(filter /usr,$(PREFIX)),/usr/share/dbus-1/system.d,$(SYSCONFDIR)/dbus-1/system.d)
polkitdir := /usr/share/polkit-1/actions

release := .build/release
generated := .build/generated
build := $(SWIFT) build -c release --static-swift-stdlib

build_packages := pkg-config libsystemd-dev libudev-dev libasound2-dev libv4l-dev libavformat-dev libavcodec-dev \
	libavutil-dev libswscale-dev libswresample-dev libturbojpeg0-dev libyuv-dev libsqlite3-dev \
	libssl-dev libgtk-3-dev
demo_packages := dbus
check_packages := python3 python3-dbus python3-gi desktop-file-utils bubblewrap xvfb xdotool xdg-desktop-portal-gtk \
	ffmpeg
bench_packages := ffmpeg v4l-utils alsa-utils gstreamer1.0-tools gstreamer1.0-plugins-base \
	gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-alsa

.PHONY: all build programs docs demo demo-reset check attacks fuzz scale bench install uninstall setup setup-demo setup-check \
	setup-bench
.NOTPARALLEL:

all: build

build: setup programs docs

# By name: all there is includes a dynamic library of a dependency, which nothing here uses.
programs:
	@for program in captured captured-recorder captured-door captured-picker capturectl capture-bench-reader \
			capture-revocation-subject; do \
		$(build) --product $$program || exit 1; \
	done

docs: programs
	$(build) --product generate-manual
	@rm -rf $(generated) && mkdir -p $(generated)/man $(generated)/completions
	@for tool in capturectl captured; do \
		$(release)/generate-manual $(release)/$$tool --multi-page --output-directory $(generated)/man \
			--date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)" || exit 1; \
	done
	@for shell in bash zsh fish; do \
		$(release)/capturectl --generate-completion-script $$shell > $(generated)/completions/$$shell || exit 1; \
	done

demo: setup-demo build
	@Tests/Demo/demo

demo-reset:
	rm -rf $${DEMO_STATE:-.build/demo}

check: setup-check build
	@.ci/check

attacks: setup-check build
	@Tests/VM/run --verbose $(patsubst Tests/VM/suites/%.sh,%,$(wildcard Tests/VM/suites/3[4-8]-*.sh \
		Tests/VM/suites/6[01]-attacks-*.sh Tests/VM/suites/70-library.sh))

fuzz: setup
	@Tests/Fuzz/run

scale: setup
	@CAPTURE_LIBRARY_ASSETS=1000000 $(SWIFT) test --disable-xctest --filter "A large library"

bench: setup-bench build
	@Tests/Benchmarks/run --output .build/bench.json

# Quick when nothing is missing. As root, else through sudo.
install_packages = @missing=; for package in $(1); do \
		dpkg-query -W -f='$${db:Status-Abbrev}' $$package 2>/dev/null | grep -q ^ii || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	command -v apt-get >/dev/null || { echo "install what these are called here:$$missing" >&2; exit 0; }; \
	echo "installing$$missing"; \
	if [ "$$(id -u)" = 0 ]; then as=; else as=sudo; fi; \
	get="$$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"; \
	$$get install -y --no-install-recommends $$missing >/dev/null || \
		{ $$get update && $$get install -y --no-install-recommends $$missing >/dev/null; }

setup:
	@command -v $(firstword $(SWIFT)) >/dev/null || { echo "Swift 6.3 is needed: https://swift.org/install" >&2; exit 69; }
	$(call install_packages,$(build_packages))
setup-demo: setup
	$(call install_packages,$(demo_packages))
setup-check: setup-demo
	$(call install_packages,$(check_packages))
	@if [ "$$(id -u)" = 0 ]; then Tests/VM/setup; else sudo -E Tests/VM/setup; fi
setup-bench: setup-check
	$(call install_packages,$(bench_packages))

# Where each file goes: MODE SOURCE TARGET; `fill` puts the folders of the programs in. One list for install and
# uninstall.
define files
755 $(release)/capturectl $(bindir)/capturectl
755 $(release)/captured $(libexecdir)/captured
755 $(release)/captured-recorder $(libexecdir)/captured-recorder
755 $(release)/captured-door $(libexecdir)/captured-door
755 $(release)/captured-picker $(libexecdir)/captured-picker
fill systemd/captured.service $(libdir)/systemd/system/captured.service
fill systemd/captured-recorder.socket $(libdir)/systemd/system/captured-recorder.socket
fill systemd/captured-recorder@.service $(libdir)/systemd/system/captured-recorder@.service
fill systemd/captured-agent.service $(libdir)/systemd/user/captured-agent.service
644 config/captured.sysusers $(libdir)/sysusers.d/captured.conf
644 config/captured.tmpfiles $(libdir)/tmpfiles.d/captured.conf
644 config/captured.conf $(libdir)/captured/captured.conf
fill config/captured-lockdown.rules $(libdir)/captured/lockdown.rules
644 config/org.capturekit.Capture1.service $(datadir)/dbus-1/system-services/org.capturekit.Capture1.service
644 config/org.capturekit.Capture1.conf $(buspolicydir)/org.capturekit.Capture1.conf
644 config/org.capturekit.capture1.policy $(polkitdir)/org.capturekit.capture1.policy
fill config/capturectl.desktop $(datadir)/applications/capturectl.desktop
644 $(generated)/completions/bash $(datadir)/bash-completion/completions/capturectl
644 $(generated)/completions/zsh $(datadir)/zsh/site-functions/_capturectl
644 $(generated)/completions/fish $(datadir)/fish/vendor_completions.d/capturectl.fish
644 README.md $(datadir)/doc/captured/README.md
644 LICENSE $(datadir)/doc/captured/LICENSE
$(foreach page,$(wildcard $(generated)/man/*.1),644 $(page) $(datadir)/man/man1/$(notdir $(page))
)$(foreach xml,$(wildcard config/org.capturekit.*.xml),644 $(xml) $(datadir)/dbus-1/interfaces/$(notdir $(xml))
)
endef
export files

install:
	@test -x $(release)/captured -a -d $(generated)/man || { echo "nothing is built yet: make build" >&2; exit 69; }
	@set -e; echo "$$files" | while read -r mode source target; do \
		case $$mode in \
		"") continue ;; \
		fill) install -D -m 644 "$$source" "$(DESTDIR)$$target"; \
			sed -i 's|@libexecdir@|$(libexecdir)|; s|@bindir@|$(bindir)|' "$(DESTDIR)$$target" ;; \
		755) install -D --strip -m 755 "$$source" "$(DESTDIR)$$target" ;; \
		*) install -D -m "$$mode" "$$source" "$(DESTDIR)$$target" ;; \
		esac; \
	done
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
		echo "installed; now, as root:"; \
		echo "  systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload && systemctl reload dbus"; \
		echo "  systemctl enable --now captured-recorder.socket captured.service"; \
		echo "and for questions on the desktop, from the next login on:"; \
		echo "  systemctl --global enable captured-agent.service"; \
	fi

# While the lockdown is on, the nodes of cameras and microphones are the daemon's alone.
uninstall:
	@if [ -e "$(DESTDIR)/etc/udev/rules.d/73-captured-lockdown.rules" ]; then \
		echo "the lockdown is on, without captured nobody could capture; first, as root: capturectl lockdown off" >&2; \
		exit 69; \
	fi
	@echo "$$files" | while read -r mode source target; do \
		if [ -n "$$mode" ]; then rm -f "$(DESTDIR)$$target"; rmdir "$(DESTDIR)$${target%/*}" 2>/dev/null || true; fi; \
	done
