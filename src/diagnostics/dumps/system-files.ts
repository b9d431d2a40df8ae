import { readdir, readFile, readlink } from 'node:fs/promises'

/** Limits the number of descriptors whose kind is read. */
const MAX_DESCRIPTORS = 2000

/** Counts open file descriptors by kind and returns their limits. Linux only. */
export async function descriptorsSection() {
  const names = await readdir('/proc/self/fd')
  const kinds: Record<string, number> = {}
  for (const target of await Promise.all(names.slice(0, MAX_DESCRIPTORS).map(readDescriptor))) {
    // Null for descriptors that have been closed since, such as that of the folder itself.
    if (target !== null) kinds[descriptorKind(target)] = (kinds[descriptorKind(target)] ?? 0) + 1
  }
  return { open: names.length, ...(await openFilesLimit()), kinds }
}

async function readDescriptor(name: string): Promise<string | null> {
  return readlink(`/proc/self/fd/${name}`).catch(() => null)
}

/** Returns only the kind, because paths of open files can be sensitive. */
function descriptorKind(target: string): string {
  const [, kind] = /^(socket|pipe|anon_inode):/.exec(target) ?? []
  if (kind !== undefined) return kind
  return target.startsWith('/dev/') ? 'device' : 'file'
}

async function openFilesLimit() {
  const limits = await readText('/proc/self/limits')
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits ?? '') ?? []
  return { soft_limit: parseLimit(soft), hard_limit: parseLimit(hard) }
}

function parseLimit(text: string | undefined): number | null {
  return text === undefined || text === 'unlimited' ? null : Number(text)
}

/** Returns limits, usage and pressure of the container. */
export async function containerSection() {
  const folder = await cgroupFolder()
  const [memory_limit, memory_used, events, cpu_max, cpu_stat, memory, cpu, io] = await Promise.all([
    ...['memory.max', 'memory.current', 'memory.events', 'cpu.max', 'cpu.stat'].map((name) =>
      readText(`${folder}/${name}`),
    ),
    ...['memory', 'cpu', 'io'].map((name) => readText(`/proc/pressure/${name}`)),
  ])
  return {
    // Node.js returns an implausible number if there is no limit.
    memory_limit_bytes: parseBytes(memory_limit) ?? plausibleBytes(process.constrainedMemory?.()),
    memory_used_bytes: parseBytes(memory_used),
    memory_available_bytes: plausibleBytes(process.availableMemory?.()),
    oom_kills: parseField(events, 'oom_kill'),
    cpu_limit: parseCpuLimit(cpu_max),
    cpu_throttled_periods: parseField(cpu_stat, 'nr_throttled'),
    pressure: { memory: parsePressure(memory), cpu: parsePressure(cpu), io: parsePressure(io) },
  }
}

const CGROUP_ROOT = '/sys/fs/cgroup'

/** Inside a container, the cgroup of the process is the visible root. */
async function cgroupFolder(): Promise<string> {
  const [, path = '/'] = /^0::(\/[^\n]*)$/m.exec((await readText('/proc/self/cgroup')) ?? '') ?? []
  const folder = `${CGROUP_ROOT}${path === '/' ? '' : path}`
  return path !== '/' && (await readText(`${folder}/memory.current`)) === null ? CGROUP_ROOT : folder
}

/** Returns null for the huge number that some systems report instead of "no limit". */
export function plausibleBytes(bytes: number | undefined): number | null {
  return bytes === undefined || bytes <= 0 || bytes > 2 ** 50 ? null : bytes
}

function parseBytes(text: string | null | undefined): number | null {
  return /^\d+\s*$/.test(text ?? '') ? plausibleBytes(Number(text)) : null
}

function parseField(text: string | null | undefined, name: string): number | null {
  const [, value] = new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '') ?? []
  return value === undefined ? null : Number(value)
}

/** Returns the number of usable processors, or null without a limit. */
function parseCpuLimit(text: string | null | undefined): number | null {
  const [, quota, period] = /^(\d+) (\d+)/.exec(text ?? '') ?? []
  return quota === undefined ? null : Math.round((Number(quota) / Number(period)) * 100) / 100
}

/** Returns the share of the last 10 and 60 seconds in which a task waited for the resource. */
function parsePressure(text: string | null | undefined) {
  const [, avg10, avg60] = /^some avg10=(\S+) avg60=(\S+)/m.exec(text ?? '') ?? []
  return avg10 === undefined ? null : { avg10_percent: Number(avg10), avg60_percent: Number(avg60) }
}

async function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
