import { basename, isAbsolute, relative, win32 } from 'node:path'
import { fileURLToPath } from 'node:url'

export const HIDDEN = '[HIDDEN]'

const CODE_FLAG = /^(?:-e|-p|-pe|--eval|--print)$/

/**
 * The flags of Node.js without the code that some of them hold, and with paths told from the project's root.
 *
 * @example
 * shownFlags(['--import=/srv/app/boot.mjs', '-e', 'start()'], '/srv/app') // ['--import=boot.mjs', '-e', '[HIDDEN]']
 */
export function shownFlags(flags: readonly string[], project_root: string): string[] {
  return flags.map((flag, i) => {
    if (CODE_FLAG.test(flag)) return flag
    if (CODE_FLAG.test(flags[i - 1] ?? '')) return HIDDEN
    const [, name = '', value = flag] = /^(-[^=]*=)([\s\S]*)$/.exec(flag) ?? []
    // A module may be written out in its own address.
    if (CODE_FLAG.test(name.slice(0, -1)) || /^data:/i.test(value)) return `${name}${HIDDEN}`
    const parts = value.split(',').map((part) => shownValue(part, project_root))
    return `${name}${parts.join(',')}`
  })
}

/** The same for the value of NODE_OPTIONS, where what holds a space stands between quotation marks. */
export function shownOptions(text: string, project_root: string): string {
  const flags = text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []
  return shownFlags(
    flags.map((flag) => flag.replace(/"((?:[^"\\]|\\.)*)"?/g, '$1')),
    project_root,
  ).join(' ')
}

/** Below the root as seen from there; elsewhere by its last name alone: where it lies is the machine's own affair. */
export function placed(path: string, root: string): string {
  const inside = relative(root, path)
  return inside.startsWith('..') || isAbsolute(inside) ? basename(path) : inside || '.'
}

/** The address of a database whose file, if it is one, is told like any other. */
export function placedAddress(address: string, root: string): string {
  const [, file, more = ''] = /^sqlite:(.+?)( \(.*\))?$/.exec(address) ?? []
  return file && isAbsolute(file) ? `sqlite:${placed(file, root)}${more}` : address
}

function shownValue(value: string, project_root: string): string {
  if (/^file:/i.test(value)) return placed(pathOf(value), project_root)
  if (isAbsolute(value)) return placed(value, project_root)
  return win32.isAbsolute(value) ? win32.basename(value) : value
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    // What is no path on this system is told by its last name.
    return url.slice(url.lastIndexOf('/'))
  }
}
