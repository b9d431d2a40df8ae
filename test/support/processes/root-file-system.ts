import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The upper folder of an overlay must be on a different file system than its lower folder. */
const MEMORY = '/dev/shm'

export interface ContainerOptions {
  /** User name or number; root by default. */
  user?: string
  folder?: string
  /** Environment of the process. Inherits nothing from this process. */
  env?: Record<string, string>
  /** Makes everything read-only except the mounts. */
  readOnly?: boolean
  /** Folders to mount by their path in the container. Null mounts an empty tmpfs that every user can write. */
  mounts?: Record<string, string | null>
}

export interface Container {
  isRunning(): boolean
  /** Lines of standard output and standard error so far. */
  output(): string[]
  /** Sends a signal to the program, which is process 1 of the container. */
  signal(name: NodeJS.Signals): void
  /** Exit code or signal. */
  exited: Promise<number | string>
}

/**
 * Root file system that contains the files of this machine, as if it were the base image of a container. Changes stay in
 * a folder in memory.
 */
export class RootFileSystem {
  readonly #folder = mkdtempSync(join(MEMORY, 'faultboard-root-'))
  /** Contains every file that differs from this machine. */
  readonly changes = join(this.#folder, 'changes')

  constructor() {
    for (const name of ['changes', 'work', 'root']) mkdirSync(join(this.#folder, name))
  }

  /** Starts a program in namespaces of its own. Only one program at a time may run without `readOnly`. */
  start(
    program: readonly string[],
    { user = 'root', folder = '/', env = {}, readOnly, mounts = {} }: ContainerOptions = {},
  ): Container {
    const root = join(this.#folder, 'root')
    // An overlay without an upper folder is read-only.
    const layers = readOnly
      ? `lowerdir=${this.changes}:/`
      : `lowerdir=/,upperdir=${this.changes},workdir=${join(this.#folder, 'work')}`
    const commands = [
      'set -e',
      `mount -t overlay overlay -o ${layers} ${root}`,
      `mount -t proc proc ${root}/proc`,
      `mount --rbind /dev ${root}/dev`,
      ...Object.entries(mounts).map(([path, source]) => {
        if (!existsSync(path)) mkdirSync(join(this.changes, path), { recursive: true })
        return source === null
          ? `mount -t tmpfs -o mode=1777 tmpfs ${root}${path}`
          : `mount --bind ${source} ${root}${path}`
      }),
      `exec chroot --userspec=${user} ${root} env --ignore-environment --chdir=${folder} "$@"`,
    ]
    const variables = Object.entries({ PATH: SEARCH_PATH, ...env }).map(([name, value]) => `${name}=${value}`)
    const flags = ['--mount', '--pid', '--fork']
    const child = spawn('unshare', [...flags, 'sh', '-c', commands.join('\n'), 'sh', ...variables, ...program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
    }
    return {
      isRunning: () => child.exitCode === null && child.signalCode === null,
      output: () => text.split('\n').slice(0, -1),
      signal: (name) => process.kill(firstChild(child), name),
      exited: once(child, 'close').then(([code, signal]) => code ?? signal),
    }
  }

  /** Runs a program until it exits and returns its output. */
  async run(program: readonly string[], options?: ContainerOptions): Promise<string[]> {
    const { exited, output } = this.start(program, options)
    const end = await exited
    if (end !== 0) throw new Error(`${program.join(' ')} exited with ${end}:\n${output().join('\n')}`)
    return output()
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Returns an empty string if this machine can start containers, and the reason otherwise. */
export function containerProblem(): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
  const mount = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/a /mnt/b /mnt/c && mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/a,workdir=/mnt/b /mnt/c`
  return spawnSync('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', mount]).status === 0
    ? ''
    : 'needs the right to mount an overlay'
}

function firstChild({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}
