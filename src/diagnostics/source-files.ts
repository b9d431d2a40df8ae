import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, extname, relative, resolve, sep } from 'node:path'

const MOST_BYTES = 1_048_576

/**
 * The text of a source file inside the root, or null. Which file is asked for stands in a stack, and a stack may come
 * from anybody: so only code is read, no matter what else lies in the folder, and links are followed before the look.
 */
export async function readSource(root: string, file: string): Promise<string | null> {
  try {
    const path = resolve(root, file)
    if (!isPlainName(file) || !isSource(root, path)) return null
    const [realRoot, real] = await Promise.all([realpath(root), realpath(path)])
    return isSource(realRoot, real) ? await textOf(real) : null
  } catch {
    // Missing, not ours to read, or a name that is no name here: the page shows the frame without its source.
    return null
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

async function textOf(path: string): Promise<string | null> {
  // Without O_NONBLOCK, opening a named pipe waits for its writer for ever.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > MOST_BYTES) return null
    const text = (await readBytes(handle, stats.size)).toString('utf8')
    const isUnfit = text.includes('\0') || /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/.test(text)
    return isUnfit ? null : text.replace(/^\uFEFF/, '')
  } finally {
    await handle.close()
  }
}

/** So many as the look said, however the file grows meanwhile. */
async function readBytes(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
  return buffer.subarray(0, bytesRead)
}
