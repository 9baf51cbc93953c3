#!/usr/bin/env python3
"""Writes the composed machine trees to ../resources/trees; README.md describes each tree and the origin of its facts.

Run it after a change here: python3 compose.py. The tests read the *.tree files, not this.
"""
from pathlib import Path

TREES = Path(__file__).parent.parent / "resources" / "trees"


def escaped(text):
    out = []
    for char in text:
        code = ord(char)
        out.append({"\n": "\\n", "\t": "\\t", "\\": "\\\\"}.get(char) or (char if 32 <= code < 127 else f"\\x{code:02x}"))
    return "".join(out)


def cpu_list(cpus):
    cpus, parts = sorted(cpus), []
    while cpus:
        last = cpus[0]
        while last + 1 in cpus:
            last += 1
        parts.append(str(cpus[0]) if last == cpus[0] else f"{cpus[0]}-{last}")
        cpus = [cpu for cpu in cpus if cpu > last]
    return ",".join(parts)


def mask(cpus):
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    groups = []
    while digits:
        digits, group = digits[:-8], digits[-8:]
        groups.insert(0, group)
    return ",".join(groups)


def pci_configuration(max_read_request, relaxed_ordering):
    """The header, and a capability for PCI Express at 0x60 with its Device Control register."""
    control = (max_read_request.bit_length() - 8) << 12 | relaxed_ordering << 4
    config = bytearray(256)
    config[0x06], config[0x34], config[0x60] = 0x10, 0x60, 0x10
    config[0x68:0x6a] = control.to_bytes(2, "little")
    config[0xff] = 0xff  # blanks and zero bytes at the end of a file would be cut off
    return "".join(map(chr, config))


class Tree:
    CPU = "sys/devices/system/cpu"

    def __init__(self, title):
        self.title, self.files = title, {}

    def put(self, path, content=""):
        self.files[path] = escaped(str(content))

    def link(self, path, target):
        self.files[path] = f"-> {target}"

    def write(self, name):
        lines = [f"# {line}" for line in self.title.strip().split("\n")]
        lines += [f"{path}\t{content}" for path, content in self.files.items()]
        (TREES / f"{name}.tree").write_text("\n".join(lines) + "\n")

    def cpus(self, count, siblings, package, node, l3, distances, line=64, sizes=("32K", "1024K", "32768K")):
        """siblings, l3: functions from CPU to the CPUs that share its core or its last cache; l3 may be None."""
        self.count, cpu = count, self.CPU
        everyone = cpu_list(range(count))
        for name in ("online", "possible", "present"):
            self.put(f"{cpu}/{name}", everyone)
        self.put(f"{cpu}/isolated")
        smt = any(len(siblings(c)) > 1 for c in range(count))
        self.put(f"{cpu}/smt/active", int(smt))
        self.put(f"{cpu}/smt/control", "on" if smt else "notsupported")
        for c in range(count):
            self.put(f"{cpu}/cpu{c}/topology/physical_package_id", package(c))
            self.put(f"{cpu}/cpu{c}/topology/thread_siblings_list", cpu_list(siblings(c)))
            caches = [(1, "Data", sizes[0], siblings(c), 64), (2, "Unified", sizes[1], siblings(c), 64)]
            if l3:
                caches.append((3, "Unified", sizes[2], l3(c), line))
            for index, (level, kind, size, shared, bytes_) in enumerate(caches):
                folder = f"{cpu}/cpu{c}/cache/index{index}"
                for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cpu_list(shared)),
                                    ("coherency_line_size", bytes_)):
                    self.put(f"{folder}/{name}", value)
        for n, row in enumerate(distances):
            self.put(f"sys/devices/system/node/node{n}/cpulist", cpu_list(c for c in range(count) if node(c) == n))
            self.put(f"sys/devices/system/node/node{n}/distance", " ".join(map(str, row)))

    def frequency(self, driver, governor, max_khz, preference=None):
        for c in range(self.count):
            folder = f"{self.CPU}/cpu{c}/cpufreq"
            self.put(f"{folder}/scaling_driver", driver)
            self.put(f"{folder}/scaling_governor", governor)
            for name in ("scaling_max_freq", "cpuinfo_max_freq"):
                self.put(f"{folder}/{name}", max_khz)
            if preference:
                self.put(f"{folder}/energy_performance_preference", preference)

    def idle(self, driver, states):
        self.put(f"{self.CPU}/cpuidle/current_driver", driver)
        self.put(f"{self.CPU}/cpuidle/current_governor", "menu")
        for c in range(self.count):
            for index, (name, latency) in enumerate(states):
                for key, value in (("name", name), ("latency", latency), ("disable", 0)):
                    self.put(f"{self.CPU}/cpu{c}/cpuidle/state{index}/{key}", value)
        self.put("dev/cpu_dma_latency", "\x00\x94\x35\x77")

    def kernel(self, release, cmdline, clock, clocks, vulnerabilities):
        self.put("proc/cmdline", cmdline)
        for name, value in (("kernel/osrelease", release), ("kernel/numa_balancing", 1), ("kernel/nmi_watchdog", 1),
                            ("kernel/watchdog", 1), ("kernel/watchdog_cpumask", cpu_list(range(self.count))),
                            ("kernel/timer_migration", 1), ("vm/swappiness", 60), ("vm/stat_interval", 1),
                            ("vm/nr_hugepages", 0), ("vm/compaction_proactiveness", 20),
                            ("vm/compact_unevictable_allowed", 1), ("kernel/split_lock_mitigate", 1),
                            ("kernel/sched_rt_runtime_us", 950000), ("kernel/sched_rt_period_us", 1000000)):
            self.put(f"proc/sys/{name}", value)
        self.put("sys/kernel/mm/ksm/run", 0)
        self.work(range(self.count))
        clock_folder = "sys/devices/system/clocksource/clocksource0"
        self.put(f"{clock_folder}/current_clocksource", clock)
        self.put(f"{clock_folder}/available_clocksource", clocks)
        self.put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
        self.put("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never")
        for name, value in vulnerabilities:
            self.put(f"{self.CPU}/vulnerabilities/{name}", value)

    def work(self, cpus):
        """The CPUs of the kernel's own work: queues and threads."""
        for queue in ("", "writeback/"):
            self.put(f"sys/devices/virtual/workqueue/{queue}cpumask", mask(cpus))
        self.put("proc/2/comm", "kthreadd")
        self.put("proc/2/status", f"Name:\tkthreadd\nCpus_allowed_list:\t{cpu_list(cpus)}")

    def memory(self, total_gib, swap_gib=0):
        kib = swap_gib << 20
        self.put("proc/meminfo", f"MemTotal:       {total_gib << 20} kB\nSwapTotal:      {kib} kB\nSwapFree:       {kib} kB\n"
                                 "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB")
        header = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"
        self.put("proc/swaps", header + (f"\n/dev/sda2                               partition\t{kib}\t\t0\t\t-2" if kib else ""))
        self.put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", 0)
        self.put("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", 0)

    def process(self, allowed, memlock=8388608, groups="0::/user.slice/user-1000.slice/session-2.scope", capabilities="0"):
        self.put("proc/self/status", f"VmLck:\t       0 kB\nVmSwap:\t       0 kB\nCapEff:\t{capabilities:>016}\n"
                                     f"Cpus_allowed_list:\t{allowed}\nMems_allowed_list:\t0")
        self.put("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
                                     f"Max locked memory         {memlock:<20} {memlock:<20} bytes")
        self.put("proc/self/cgroup", groups)
        self.put("proc/self/stat", "4242 (java) S 1 4242 4242 0 -1 4194304 " + "0 " * 31 + "0 0 0 0 0")
        self.put("proc/self/environ", "PATH=/usr/bin\0LANG=C\0")

    def unified_cgroup(self, path, cpus):
        self.put("proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
                                        "rw,nsdelegate,memory_recursiveprot")
        self.put("sys/fs/cgroup/cpuset.cpus.effective", cpus)
        self.put("sys/fs/cgroup/cpuset.cpus.isolated")
        self.put("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc")
        folder = "sys/fs/cgroup"
        for part in path.strip("/").split("/"):
            folder += "/" + part
            self.put(f"{folder}/cpu.max", "max 100000")
        self.put(f"{folder}/cpu.stat", "usage_usec 8216\nuser_usec 5011\nsystem_usec 3205")

    def interrupts(self, device_lines, node=0, own=(("LOC", 901234, "Local timer interrupts"), ("RES", 4321, "Rescheduling interrupts"))):
        """device_lines: (number, chip and type, label, allowed CPUs, effective CPU, count)."""
        rows = ["      " + "".join(f"{'CPU' + str(c):>11}" for c in range(self.count))]
        for number, chip, label, allowed, effective, count in device_lines:
            counts = "".join(f"{count if c == effective else 0:>11}" for c in range(self.count))
            rows.append(f"{number:>4}: {counts}  {chip}      {label}")
            self.put(f"proc/irq/{number}/smp_affinity_list", allowed)
            self.put(f"proc/irq/{number}/effective_affinity_list", effective)
            self.put(f"proc/irq/{number}/node", node if "mlx5" in label else 0)
        for name, count, text in own:
            rows.append(f"{name:>4}: " + "".join(f"{count + c:>11}" for c in range(self.count)) + f"   {text}")
        rows.append(" ERR:          0")
        self.put("proc/interrupts", "\n".join(rows))
        self.put("proc/stat", "\n".join(
            ["cpu  9000 10 4000 9000000 50 0 20 0 0 0"]
            + [f"cpu{c} 90 0 40 90000 0 0 0 0 0 0" for c in range(self.count)] + ["ctxt 123456789"]))

    def mlx5(self, name, pci, node, irqs, net, mtu, link="Ethernet", rate="100 Gb/sec (4X EDR)", speed="16.0 GT/s PCIe", width=16,
             iommu="DMA-FQ", aspm=1, max_read_request=512, tos=None):
        folder = f"sys/class/infiniband/{name}"
        self.put(f"{folder}/fw_ver", "22.35.1012")
        self.put(f"{folder}/hca_type", "MT4125")
        self.put(f"{folder}/device/uevent", f"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:101D\nPCI_SLOT_NAME={pci}")
        self.put(f"{folder}/device/numa_node", node)
        for which in ("current", "max"):
            self.put(f"{folder}/device/{which}_link_speed", speed)
            self.put(f"{folder}/device/{which}_link_width", width)
        for irq in irqs:
            self.put(f"{folder}/device/msi_irqs/{irq}", "msix")
        self.put(f"{folder}/device/iommu_group/type", iommu)
        self.put(f"{folder}/device/link/l1_aspm", aspm)
        self.put(f"{folder}/device/config", pci_configuration(max_read_request, True))
        port = f"{folder}/ports/1"
        for name_, value in (("counters/port_rcv_packets", 5000000), ("hw_counters/packet_seq_err", 0),
                             ("hw_counters/out_of_sequence", 2), ("hw_counters/local_ack_timeout_err", 0)):
            self.put(f"{port}/{name_}", value)
        if tos is not None:
            self.put(f"sys/kernel/config/rdma_cm/{name}/ports/1/default_roce_tos", tos)
        for key, value in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("link_layer", link), ("rate", rate)):
            self.put(f"{port}/{key}", value)
        if net:
            self.put(f"{port}/gid_attrs/ndevs/0", net)
            self.put(f"sys/class/net/{net}/mtu", mtu)
            for queue in range(2):
                self.put(f"sys/class/net/{net}/queues/rx-{queue}/rps_cpus", 0)
        index = name.rsplit("_", 1)[1]
        self.put(f"sys/class/infiniband_verbs/uverbs{index}/ibdev", name)
        self.put(f"dev/infiniband/uverbs{index}")
        self.put("dev/infiniband/rdma_cm")

    def libraries(self, triplet, rpma="1.2.0", providers=("mlx5", "rxe")):
        lib = f"usr/lib/{triplet}"
        if rpma:
            self.put(f"{lib}/pkgconfig/librpma.pc", f"Name: librpma\nVersion: {rpma}")
            self.put(f"{lib}/librpma.so.0")
        self.link(f"{lib}/libibverbs.so.1", "libibverbs.so.1.14.44.0")
        self.put(f"{lib}/libibverbs.so.1.14.44.0")
        self.link(f"{lib}/librdmacm.so.1", "librdmacm.so.1.3.44.0")
        self.put(f"{lib}/librdmacm.so.1.3.44.0")
        for provider in providers:
            self.put(f"etc/libibverbs.d/{provider}.driver", f"driver {provider}")
            self.put(f"{lib}/libibverbs/lib{provider}-rdmav34.so")


INTEL_FLAGS = "fpu vme de pse tsc msr pae mce constant_tsc nonstop_tsc cpuid aperfmperf avx2 invpcid rdtscp"
MITIGATED = (("meltdown", "Not affected"), ("mds", "Not affected"),
             ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
             ("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling"),
             ("retbleed", "Not affected"))


def two_socket_smt():
    """The usual two-socket server: siblings are numbered after all cores, the RoCE NIC hangs on the second socket."""
    tree = Tree("composed: two sockets, 16 cores each, SMT, one L3 a socket; mlx5 RoCE NIC on node 1; as installed, not tuned")
    cores = 32
    tree.cpus(64, lambda c: {c % cores, c % cores + cores}, lambda c: c % cores // 16, lambda c: c % cores // 16,
              lambda c: {x for x in range(64) if x % cores // 16 == c % cores // 16}, ((10, 21), (21, 10)),
              sizes=("48K", "1280K", "24576K"))
    tree.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: two-socket server CPU, 16 cores\n"
                             f"flags\t\t: {INTEL_FLAGS}")
    tree.frequency("intel_pstate", "powersave", 3500000, "balance_performance")
    tree.put(f"{Tree.CPU}/intel_pstate/no_turbo", 1)
    tree.idle("intel_idle", (("POLL", 0), ("C1", 1), ("C1E", 4), ("C6", 170)))
    tree.kernel("6.1.0-18-amd64", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/sda1 ro quiet", "tsc", "tsc hpet acpi_pm",
                MITIGATED)
    tree.put(f"{Tree.CPU}/nohz_full")
    tree.memory(256, 8)
    tree.process("0-63")
    tree.unified_cgroup("user.slice/user-1000.slice/session-2.scope", "0-63")
    local = "16-31,48-63"
    lines = [(9, "IR-IO-APIC    9-fasteoi", "acpi", "0-63", 0, 3), (120, "IR-PCI-MSI 524288-edge", "nvme0q0", "0-15,32-47", 2, 900)]
    lines.append((200, "IR-PCI-MSI 67633152-edge", "mlx5_async0@pci:0000:81:00.0", "0-63", 16, 77))
    nearest = list(range(16, 32))
    lines += [(201 + i, f"IR-PCI-MSI {67633153 + i}-edge", f"mlx5_comp{i}@pci:0000:81:00.0", cpu, cpu, 5000 + i)
              for i, cpu in enumerate(nearest)]
    tree.interrupts(lines, node=1)
    tree.put("proc/812/comm", "irqbalance")
    tree.put("etc/default/grub", 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX=""')
    tree.put("etc/default/irqbalance", "#IRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_ARGS=")
    tree.put("sys/class/dmi/id/sys_vendor", "Server Vendor Inc.")
    tree.mlx5("mlx5_0", "0000:81:00.0", 1, range(200, 217), "ens1f0np0", 1500)
    tree.libraries("x86_64-linux-gnu")
    tree.write("two-socket-smt")


def epyc():
    """An EPYC of the second generation: 16 groups of four cores, each under an L3 of its own, 128 CPUs, one node."""
    tree = Tree("composed: one socket, 64 cores, SMT, 16 L3s of four cores each, one NUMA node; mlx5 InfiniBand adapter")
    cores = 64
    tree.cpus(128, lambda c: {c % cores, c % cores + cores}, lambda c: 0, lambda c: 0,
              lambda c: {x for x in range(128) if x % cores // 4 == c % cores // 4}, ((10,),), sizes=("32K", "512K", "16384K"))
    tree.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: EPYC, 64 cores\n"
                             f"flags\t\t: {INTEL_FLAGS}")
    tree.frequency("acpi-cpufreq", "schedutil", 2250000)
    tree.idle("acpi_idle", (("POLL", 0), ("C1", 1), ("C2", 400)))
    tree.kernel("5.14.0-362.el9.x86_64", "BOOT_IMAGE=(hd0,gpt2)/vmlinuz root=/dev/mapper/root ro", "tsc", "tsc hpet acpi_pm",
                MITIGATED)
    tree.memory(512)
    tree.process("0-127", memlock="unlimited")
    tree.unified_cgroup("user.slice/user-1000.slice/session-2.scope", "0-127")
    lines = [(300, "IR-PCI-MSI 1048576-edge", "mlx5_async0@pci:0000:c1:00.0", "0-127", 0, 12)]
    lines += [(301 + i, f"IR-PCI-MSI {1048577 + i}-edge", f"mlx5_comp{i}@pci:0000:c1:00.0", i * 8, i * 8, 100) for i in range(8)]
    tree.interrupts(lines)
    tree.put("sys/class/dmi/id/sys_vendor", "Server Vendor Inc.")
    tree.mlx5("mlx5_0", "0000:c1:00.0", 0, range(300, 309), None, None, link="InfiniBand", rate="200 Gb/sec (4X HDR)")
    tree.libraries("x86_64-linux-gnu", rpma="1.3.0")
    tree.write("epyc-many-l3")


def arm():
    """An Arm server of two packages with two nodes each, 32 cores a node under one L3, no SMT."""
    tree = Tree("composed: Arm, two packages, four NUMA nodes of 32 cores, no SMT, one L3 a node, 128-byte lines; mlx5 on node 2")
    tree.cpus(128, lambda c: {c}, lambda c: 36 if c < 64 else 3180, lambda c: c // 32,
              lambda c: {x for x in range(128) if x // 32 == c // 32},
              ((10, 16, 32, 33), (16, 10, 25, 32), (32, 25, 10, 16), (33, 32, 16, 10)), line=128,
              sizes=("64K", "512K", "32768K"))
    tree.put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 200.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics\n"
                             "CPU implementer\t: 0x48\nCPU architecture: 8\nCPU part\t: 0xd01")
    tree.frequency("cppc_cpufreq", "ondemand", 2600000)
    tree.kernel("5.10.0-136.aarch64", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 rw iommu.passthrough=1", "arch_sys_counter",
                "arch_sys_counter", (("meltdown", "Not affected"), ("spectre_v2", "Not affected")))
    tree.memory(256)
    tree.process("0-127", memlock=65536)
    tree.unified_cgroup("system.slice/app.service", "0-127")
    tree.files["proc/self/cgroup"] = "0::/system.slice/app.service"
    lines = [(11, "   GICv3  30 Level", "arch_timer", "0-127", 0, 0),
             (410, "   ITS-MSI 67108864 Edge", "mlx5_async0@pci:0000:84:00.0", "0-127", 64, 9)]
    lines += [(411 + i, f"   ITS-MSI {67108865 + i} Edge", f"mlx5_comp{i}@pci:0000:84:00.0", "64-95", 64 + i, 30) for i in range(4)]
    tree.interrupts(lines, node=2, own=(("IPI0", 1234, "Rescheduling interrupts"), ("IPI1", 99, "Function call interrupts")))
    tree.put("sys/class/dmi/id/sys_vendor", "Server Vendor Inc.")
    tree.mlx5("mlx5_0", "0000:84:00.0", 2, range(410, 415), "enp132s0", 9000, tos=0)
    tree.put("sys/class/net/enp132s0/queues/rx-1/rps_cpus", mask(range(64, 96)))
    tree.put("sys/kernel/mm/ksm/run", 1)
    tree.libraries("aarch64-linux-gnu", rpma=None, providers=("mlx5", "hns"))
    tree.write("arm-server")


def container(version):
    """A container on a host of eight cores with SMT; version 1 sees the host's cgroup paths, version 2 has a namespace."""
    tree = Tree(f"composed: a container (cgroup v{version}) on a host of 8 cores with SMT, no RDMA device; "
                + ("a quota of 2.5 CPUs, no cpuset" if version == 2 else "a quota of 6 CPUs, cpuset of four whole cores"))
    tree.cpus(16, lambda c: {c % 8, c % 8 + 8}, lambda c: 0, lambda c: 0, lambda c: set(range(16)), ((10,),))
    tree.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: cloud CPU\n"
                             f"flags\t\t: {INTEL_FLAGS} hypervisor")
    tree.kernel("5.15.0-105-generic", "BOOT_IMAGE=/vmlinuz root=LABEL=root ro", "kvm-clock", "kvm-clock tsc acpi_pm", MITIGATED)
    tree.memory(64)
    for name in ("comm", "status"):
        del tree.files[f"proc/2/{name}"]
    if version == 2:
        tree.process("0-15", groups="0::/", memlock=65536)
        tree.put(".dockerenv")
        tree.put("proc/self/mountinfo", "1203 1190 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw")
        tree.put("sys/fs/cgroup/cpu.max", "250000 100000")
        tree.put("sys/fs/cgroup/cpuset.cpus.effective", "0-15")
        tree.put("sys/fs/cgroup/cpu.stat", "usage_usec 991\nuser_usec 700\nsystem_usec 291\nnr_periods 500\nnr_throttled 17")
    else:
        path = "/kubepods/burstable/pod1f/c0ffee"
        tree.process("4-7,12-15", groups=f"4:cpuset:{path}\n3:cpu,cpuacct:{path}\n1:name=systemd:{path}", memlock=65536)
        tree.put("proc/self/mountinfo",
                 f"901 900 0:31 {path} /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
                 f"902 900 0:32 {path} /sys/fs/cgroup/cpuset ro,nosuid - cgroup cgroup rw,cpuset")
        tree.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", 600000)
        tree.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", 100000)
        tree.put("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 900\nnr_throttled 0\nthrottled_time 0")
        tree.put("sys/fs/cgroup/cpuset/cpuset.cpus", "4-7,12-15")
        tree.put("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "4-7,12-15")
    tree.interrupts([(24, "PCI-MSI 49152-edge", "virtio0-config", "0-15", 3, 0),
                     (25, "PCI-MSI 49153-edge", "virtio0-input.0", "0-7", 5, 12345)])
    tree.put("sys/class/dmi/id/sys_vendor", "Cloud Vendor")
    tree.libraries("x86_64-linux-gnu", providers=("rxe",))
    tree.write(f"container-cgroup-v{version}")


def tuned():
    """A small server on which everything has been done: the doctor has no findings."""
    tree = Tree("composed: one socket, 8 cores, SMT off, CPUs 2-7 isolated, everything tuned; mlx5 RoCE NIC; run by root")
    tree.cpus(8, lambda c: {c}, lambda c: 0, lambda c: 0, lambda c: set(range(8)), ((10,),))
    tree.put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: tuned server CPU, 8 cores\n"
                             f"flags\t\t: {INTEL_FLAGS}")
    tree.frequency("intel_pstate", "performance", 4000000, "performance")
    tree.idle("intel_idle", (("POLL", 0), ("C1", 1)))
    tree.put("dev/cpu_dma_latency", "\x00\x00\x00\x00")
    tree.kernel("6.1.0-18-amd64", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro isolcpus=managed_irq,domain,2-7 nohz_full=2-7 "
                                  "rcu_nocbs=2-7 irqaffinity=0-1", "tsc", "tsc hpet acpi_pm", MITIGATED)
    for name, value in (("kernel/numa_balancing", 0), ("kernel/nmi_watchdog", 0), ("kernel/watchdog_cpumask", "0-1"),
                        ("vm/nr_hugepages", 512), ("vm/stat_interval", 10), ("vm/compaction_proactiveness", 0),
                        ("vm/compact_unevictable_allowed", 0)):
        tree.put(f"proc/sys/{name}", value)
    tree.work(range(2))
    tree.put(f"{Tree.CPU}/intel_pstate/no_turbo", 0)
    tree.put(f"{Tree.CPU}/isolated", "2-7")
    tree.put(f"{Tree.CPU}/nohz_full", "2-7")
    tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
    tree.memory(64)
    for name in ("nr_hugepages", "free_hugepages"):
        tree.put(f"sys/kernel/mm/hugepages/hugepages-2048kB/{name}", 512)
    tree.process("0-1", memlock="unlimited", capabilities="1ffffffffff")
    tree.unified_cgroup("user.slice/user-1000.slice/session-2.scope", "0-7")
    lines = [(120, "IR-PCI-MSI 524288-edge", "nvme0q0", "0-1", 1, 900),
             (200, "IR-PCI-MSI 67633152-edge", "mlx5_async0@pci:0000:81:00.0", "0-1", 0, 77),
             (201, "IR-PCI-MSI 67633153-edge", "mlx5_comp0@pci:0000:81:00.0", "0-1", 1, 77)]
    tree.interrupts(lines)
    tree.put("sys/class/dmi/id/sys_vendor", "Server Vendor Inc.")
    tree.mlx5("mlx5_0", "0000:81:00.0", 0, range(200, 202), "ens1f0np0", 9000, iommu="identity", aspm=0, max_read_request=4096,
              tos=106)
    for point in ("np", "rp"):
        tree.put(f"sys/class/net/ens1f0np0/ecn/roce_{point}/enable/3", 1)
    tree.libraries("x86_64-linux-gnu")
    tree.write("tuned-server")


if __name__ == "__main__":
    tuned()
    two_socket_smt()
    epyc()
    arm()
    container(1)
    container(2)
