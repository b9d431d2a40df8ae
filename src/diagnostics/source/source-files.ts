import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'

const MAX_BYTES = 1_048_576

export interface SourceFile {
  bytes: Buffer
  text: string
}

/**
 * Returns the real path of a source file in the project, or null. The name is part of a stack, which clients can forge,
 * so only source code is allowed. The file may no longer exist.
 */
export async function locateSource(root: string, file: string): Promise<string | null> {
  try {
    const path = resolve(root, file)
    if (!isPlainName(file) || !isSource(root, path)) return null
    const [realRoot, real] = await Promise.all([realpath(root), resolveRealPath(path)])
    return isSource(realRoot, real) ? real : null
  } catch {
    // No permission or an invalid name. The frame is shown without source.
    return null
  }
}

/** Reads a located file. Null if it is missing, huge, binary or not a regular file. */
export async function readSource(path: string): Promise<SourceFile | null> {
  try {
    const bytes = await readRegularFile(path)
    const text = bytes && sourceText(bytes)
    return bytes && text !== null ? { bytes, text } : null
  } catch {
    // Missing, or no permission.
    return null
  }
}

/** Decodes a source file. Null for binary content and private keys. */
export function sourceText(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  const isHidden = text.includes('\0') || /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/.test(text)
  return isHidden ? null : text.replace(/^\uFEFF/, '')
}

/** Resolves links even if the file no longer exists, because a parent folder can be a link out of the project. */
async function resolveRealPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    return join(await resolveRealPath(dirname(path)), basename(path))
  }
}

function isPlainName(file: string): boolean {
  return (
    file.length <= 1000 && !file.includes('\0') && !file.includes('://') && !/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(file)
  )
}

const SOURCE =
  /^\.(?:[cm]?[jt]sx?|vue|svelte|astro|marko|coffee|ls|civet|imba|res|re|elm|gs|ejs|pug|hbs|njk|eta|liquid|graphql|gql)$/i
/** Dot folders with build output. All other dot folders are private. */
const BUILD_FOLDERS = new Set(['.next', '.nuxt', '.output', '.svelte-kit', '.vercel', '.netlify', '.build', '.pnpm'])
const SECRET_NAME =
  /^(?:\.|(?:credentials?|secrets?)(?![a-z])|id_(?:rsa|dsa|ecdsa|ed25519))|\.(?:env|pem|key|secrets?)(?![a-z])/i

function isSource(root: string, path: string): boolean {
  const inside = relative(root, path)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || resolve(root, inside) !== path) return false
  const folders = inside.split(sep).slice(0, -1)
  if (folders.some((name) => name === 'node_modules' || (name.startsWith('.') && !BUILD_FOLDERS.has(name))))
    return false
  return SOURCE.test(extname(path)) && !SECRET_NAME.test(basename(path))
}

async function readRegularFile(path: string): Promise<Buffer | null> {
  // Without O_NONBLOCK, opening a named pipe blocks until a writer connects.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = await handle.stat()
    return stats.isFile() && stats.size <= MAX_BYTES ? await readBytes(handle, stats.size) : null
  } finally {
    await handle.close()
  }
}

/** Reads at most the size from `stat`, even if the file grows. */
async function readBytes(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
  return buffer.subarray(0, bytesRead)
}
