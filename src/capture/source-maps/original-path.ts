import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SourceName {
  source: unknown
  source_root: unknown
  /** The folder of the map. */
  folder: string
  project_root: string
}

/**
 * The path of an original file as `parseFrame` expects it: absolute, so that it is shown relative to the project's root,
 * and with `node_modules` in it where the code is a library's. It is only ever shown, never opened.
 */
export function originalPath({ source, source_root, folder, project_root }: SourceName): string | null {
  if (typeof source !== 'string' || source === '' || UNPRINTABLE.test(source)) return null
  const name = joined(source_root, source)
  const address = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/i.exec(name)
  if (!address) return resolve(folder, name)
  const scheme = (address[1] ?? '').toLowerCase()
  if (scheme === 'file') return fileURLToPath(name)
  if (scheme === 'http' || scheme === 'https') return name
  return bundledPath(address[2] ?? '', project_root)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a line of a stack.
const UNPRINTABLE = /[\x00-\x1f\x7f\u2028\u2029]/
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i

function joined(source_root: unknown, source: string): string {
  if (typeof source_root !== 'string' || source_root === '' || UNPRINTABLE.test(source_root)) return source
  if (isAbsolute(source) || ADDRESS.test(source)) return source
  return source_root.endsWith('/') ? `${source_root}${source}` : `${source_root}/${source}`
}

/** What a bundler itself adds to the bundle is as little the host's code as a library is. */
const RUNTIME = /^(?:webpack\/|\(webpack\)|\[turbopack\]|external )/

/** `webpack://shop/./src/cart.ts` and its kin: the name of the package, then a path from the project's root. */
function bundledPath(rest: string, project_root: string): string {
  // Behind the question mark stands a hash, which would part the group at every build.
  const path = rest.replace(/\?[^/]*$/, '')
  const dot = /(?:^|\/)(?=\.\.?\/)/.exec(path)
  const inside = (dot ? path.slice(dot.index + dot[0].length) : path.replace(/^(?:@[^/]*\/)?[^/]*\//, '')).replace(
    /^\[project\]\//,
    '',
  )
  return resolve(project_root, RUNTIME.test(inside) ? `node_modules/${inside.replace(/[()[\]]/g, '')}` : inside)
}
