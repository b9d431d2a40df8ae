import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'

const MOST_BYTES = 1_048_576

export interface SourceFile {
  bytes: Buffer
  text: string
}

/**
 * Where a source file of the root lies, links followed, or null. Which file is asked for stands in a stack, and a stack
 * may come from anybody: so only code is shown, no matter what else lies in the folder. The file may be gone by now.
 */
export async function locateSource(root: string, file: string): Promise<string | null> {
  try {
    const path = resolve(root, file)
    if (!isPlainName(file) || !isSource(root, path)) return null
    const [realRoot, real] = await Promise.all([realpath(root), realPlace(path)])
    return isSource(realRoot, real) ? real : null
  } catch {
    // Not ours to look at, or a name that is no name here: the page shows the frame without its source.
    return null
  }
}

/** A file that was located, or null where it is missing, huge, binary or no file. */
export async function readSource(path: string): Promise<SourceFile | null> {
  try {
    const bytes = await bytesOf(path)
    const text = bytes && sourceText(bytes)
    return bytes && text !== null ? { bytes, text } : null
  } catch {
    // Missing, or not ours to read.
    return null
  }
}

/** The text of a source file, or null where its content is not for showing. */
export function sourceText(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  const isUnfit = text.includes('\0') || /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/.test(text)
  return isUnfit ? null : text.replace(/^\uFEFF/, '')
}

/** The folder may have been a link while the file was there, and leads elsewhere still. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPlace(dirname(path)), basename(path))
  }
}

function isPlainName(file: string): boolean {
  return (
    file.length <= 1000 && !file.includes('\0') && !file.includes('://') && !/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(file)
  )
}

const SOURCE =
  /^\.(?:[cm]?[jt]sx?|vue|svelte|astro|marko|coffee|ls|civet|imba|res|re|elm|gs|ejs|pug|hbs|njk|eta|liquid|graphql|gql)$/i
/** Folders in which builds leave code that runs; every other with a dot holds what is not meant to be seen. */
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

async function bytesOf(path: string): Promise<Buffer | null> {
  // Without O_NONBLOCK, opening a named pipe waits for its writer for ever.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = await handle.stat()
    return stats.isFile() && stats.size <= MOST_BYTES ? await readBytes(handle, stats.size) : null
  } finally {
    await handle.close()
  }
}

/** So many as the look said, however the file grows meanwhile. */
async function readBytes(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
  return buffer.subarray(0, bytesRead)
}
