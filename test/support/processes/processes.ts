import { existsSync, readdirSync, readFileSync } from 'node:fs'

export interface ProcessEntry {
  pid: number
  parent: number
  /** State as a letter, as in `ps`; Z is a zombie. */
  state: string
  name: string
  /** Program and arguments; empty for a zombie. */
  command: string
}

/** True if the operating system lists its processes under /proc. */
export const HAS_PROC = existsSync('/proc/self/stat')

export function listProcesses(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const [, name = '', state = '', parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(stat) ?? []
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid: Number(pid), parent: Number(parent), state, name, command }]
      } catch {
        // The process has exited since the folder was listed.
        return []
      }
    })
}
