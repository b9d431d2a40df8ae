import { basename, isAbsolute, relative, win32 } from 'node:path'
import { fileURLToPath } from 'node:url'

export const HIDDEN = '[HIDDEN]'

const CODE_FLAG = /^(?:-e|-p|-pe|--eval|--print)$/

/**
 * Returns the Node.js flags without inline code and with paths relative to the project.
 *
 * @example
 * displayFlags(['--import=/srv/app/boot.mjs', '-e', 'start()'], '/srv/app') // ['--import=boot.mjs', '-e', '[HIDDEN]']
 */
export function displayFlags(flags: readonly string[], projectRoot: string): string[] {
  return flags.map((flag, i) => {
    if (CODE_FLAG.test(flag)) return flag
    if (CODE_FLAG.test(flags[i - 1] ?? '')) return HIDDEN
    const [, name = '', value = flag] = /^(-[^=]*=)([\s\S]*)$/.exec(flag) ?? []
    // A data URL contains the code of a module.
    if (CODE_FLAG.test(name.slice(0, -1)) || /^data:/i.test(value)) return `${name}${HIDDEN}`
    const parts = value.split(',').map((part) => displayFlagValue(part, projectRoot))
    return `${name}${parts.join(',')}`
  })
}

/** Applies `displayFlags` to the value of NODE_OPTIONS, which can contain quoted flags. */
export function displayNodeOptions(text: string, projectRoot: string): string {
  const flags = text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []
  return displayFlags(
    flags.map((flag) => flag.replace(/"((?:[^"\\]|\\.)*)"?/g, '$1')),
    projectRoot,
  ).join(' ')
}

/** Returns a path relative to the project, or only the file name for a path outside it. */
export function displayPath(path: string, root: string): string {
  const inside = relative(root, path)
  return inside.startsWith('..') || isAbsolute(inside) ? basename(path) : inside || '.'
}

/** Makes the file path in an SQLite address relative to the project. */
export function displayAddress(address: string, root: string): string {
  const [, file, suffix = ''] = /^sqlite:(.+?)( \(.*\))?$/.exec(address) ?? []
  return file && isAbsolute(file) ? `sqlite:${displayPath(file, root)}${suffix}` : address
}

function displayFlagValue(value: string, projectRoot: string): string {
  if (/^file:/i.test(value)) return displayPath(toPath(value), projectRoot)
  if (isAbsolute(value)) return displayPath(value, projectRoot)
  return win32.isAbsolute(value) ? win32.basename(value) : value
}

function toPath(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    // Not a path on this system.
    return url.slice(url.lastIndexOf('/'))
  }
}
