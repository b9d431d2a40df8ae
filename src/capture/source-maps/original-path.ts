import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SourceName {
  source: unknown
  sourceRoot: unknown
  /** Folder of the map. */
  folder: string
  project_root: string
}

/**
 * Path of an original file in the format that `parseFrame` expects: absolute, and with `node_modules` for library
 * code. It is only displayed, never opened.
 */
export function originalPath({ source, sourceRoot, folder, project_root }: SourceName): string | null {
  if (typeof source !== 'string' || source === '' || UNPRINTABLE.test(source)) return null
  const name = joinRoot(sourceRoot, source)
  const urlParts = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/i.exec(name)
  if (!urlParts) return resolve(folder, name)
  const scheme = (urlParts[1] ?? '').toLowerCase()
  if (scheme === 'file') return fileURLToPath(name)
  if (scheme === 'http' || scheme === 'https') return name
  return bundledPath(urlParts[2] ?? '', project_root)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a line of a stack.
const UNPRINTABLE = /[\x00-\x1f\x7f\u2028\u2029]/
const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i

function joinRoot(sourceRoot: unknown, source: string): string {
  if (typeof sourceRoot !== 'string' || sourceRoot === '' || UNPRINTABLE.test(sourceRoot)) return source
  if (isAbsolute(source) || URL_SCHEME.test(source)) return source
  return sourceRoot.endsWith('/') ? `${sourceRoot}${source}` : `${sourceRoot}/${source}`
}

/** Matches code added by the bundler, which is not the host's own code. */
const BUNDLER_RUNTIME = /^(?:webpack\/|\(webpack\)|\[turbopack\]|external )/

/** `webpack://shop/./src/cart.ts` and similar: the package name, then a path relative to the project root. */
function bundledPath(rest: string, project_root: string): string {
  // The query contains a hash, which would create new groups with every build.
  const path = rest.replace(/\?[^/]*$/, '')
  const dot = /(?:^|\/)(?=\.\.?\/)/.exec(path)
  const relativePath = (
    dot ? path.slice(dot.index + dot[0].length) : path.replace(/^(?:@[^/]*\/)?[^/]*\//, '')
  ).replace(/^\[project\]\//, '')
  return resolve(
    project_root,
    BUNDLER_RUNTIME.test(relativePath) ? `node_modules/${relativePath.replace(/[()[\]]/g, '')}` : relativePath,
  )
}
