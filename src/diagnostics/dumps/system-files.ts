import { readdir, readFile, readlink } from 'node:fs/promises'

/** Beyond this many, what the rest of the descriptors are is not asked one by one. */
const MAX_LINKS = 2000

/** What is open, by kind, and how much may be. Linux only: elsewhere there is no such folder to look into. */
export async function descriptorsSection() {
  const names = await readdir('/proc/self/fd')
  const kinds: Record<string, number> = {}
  for (const target of await Promise.all(names.slice(0, MAX_LINKS).map(linkOf))) {
    // What was open while the folder was read, such as the folder itself, may be closed by now.
    if (target !== null) kinds[kindOf(target)] = (kinds[kindOf(target)] ?? 0) + 1
  }
  return { open: names.length, ...(await openFilesLimit()), kinds }
}

async function linkOf(name: string): Promise<string | null> {
  return readlink(`/proc/self/fd/${name}`).catch(() => null)
}

/** Never the path itself: which files a process has open is nobody's business but its own. */
function kindOf(target: string): string {
  const [, kind] = /^(socket|pipe|anon_inode):/.exec(target) ?? []
  if (kind !== undefined) return kind
  return target.startsWith('/dev/') ? 'device' : 'file'
}

async function openFilesLimit() {
  const limits = await textOf('/proc/self/limits')
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits ?? '') ?? []
  return { soft_limit: limitOf(soft), hard_limit: limitOf(hard) }
}

function limitOf(text: string | undefined): number | null {
  return text === undefined || text === 'unlimited' ? null : Number(text)
}

/** What the container may use and how hard it is pressed, as far as the system tells. */
export async function containerSection() {
  const folder = await cgroupFolder()
  const [memory_limit, memory_used, events, cpu_max, cpu_stat, memory, cpu, io] = await Promise.all([
    ...['memory.max', 'memory.current', 'memory.events', 'cpu.max', 'cpu.stat'].map((name) =>
      textOf(`${folder}/${name}`),
    ),
    ...['memory', 'cpu', 'io'].map((name) => textOf(`/proc/pressure/${name}`)),
  ])
  return {
    // Node.js gives a number without meaning where there is no limit.
    memory_limit_bytes: bytesOf(memory_limit) ?? plausible(process.constrainedMemory?.()),
    memory_used_bytes: bytesOf(memory_used),
    memory_available_bytes: plausible(process.availableMemory?.()),
    oom_kills: fieldOf(events, 'oom_kill'),
    cpu_limit: cpuLimit(cpu_max),
    cpu_throttled_periods: fieldOf(cpu_stat, 'nr_throttled'),
    pressure: { memory: pressureOf(memory), cpu: pressureOf(cpu), io: pressureOf(io) },
  }
}

const CGROUPS = '/sys/fs/cgroup'

/** Inside a container the process stands at the root of what it sees. */
async function cgroupFolder(): Promise<string> {
  const [, path = '/'] = /^0::(\/[^\n]*)$/m.exec((await textOf('/proc/self/cgroup')) ?? '') ?? []
  const own = `${CGROUPS}${path === '/' ? '' : path}`
  return path !== '/' && (await textOf(`${own}/memory.current`)) === null ? CGROUPS : own
}

/** Null for the number without meaning that some systems give where there is none. */
export function plausible(bytes: number | undefined): number | null {
  return bytes === undefined || bytes <= 0 || bytes > 2 ** 50 ? null : bytes
}

function bytesOf(text: string | null | undefined): number | null {
  return /^\d+\s*$/.test(text ?? '') ? plausible(Number(text)) : null
}

function fieldOf(text: string | null | undefined, name: string): number | null {
  const [, value] = new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '') ?? []
  return value === undefined ? null : Number(value)
}

/** Processors that may be used; null where all may. */
function cpuLimit(text: string | null | undefined): number | null {
  const [, quota, period] = /^(\d+) (\d+)/.exec(text ?? '') ?? []
  return quota === undefined ? null : Math.round((Number(quota) / Number(period)) * 100) / 100
}

/** Percent of the last ten and sixty seconds in which something waited for it. */
function pressureOf(text: string | null | undefined) {
  const [, avg10, avg60] = /^some avg10=(\S+) avg60=(\S+)/m.exec(text ?? '') ?? []
  return avg10 === undefined ? null : { avg10_percent: Number(avg10), avg60_percent: Number(avg60) }
}

async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
