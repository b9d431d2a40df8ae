import { readFileSync } from 'node:fs'
import { cp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProject } from '../../config/project.js'

/** Source of the shop, which the package contains unchanged. */
const LARDER_FOLDER = join(findProject(fileURLToPath(import.meta.url)).root, 'demo/larder')

/** Copies the shop to a folder outside node_modules, because files in node_modules count as libraries. */
export async function copyLarder(folder: string): Promise<string> {
  const copy = join(await realpath(folder), 'larder')
  await cp(LARDER_FOLDER, copy, { recursive: true })
  return copy
}

export function readLarderFile(path: string): string {
  return readFileSync(join(LARDER_FOLDER, path), 'utf8')
}

const linesByFile = new Map<string, readonly string[]>()

/**
 * Line and column of a piece of code in the shop, so that sample stacks point to the real code.
 * @example codePosition('src/cart.js', 'product.price') // '11:26'
 */
export function codePosition(path: string, code: string): string {
  const lines = linesByFile.get(path) ?? readLarderFile(path).split('\n')
  linesByFile.set(path, lines)
  const index = lines.findIndex((line) => line.includes(code))
  if (index < 0) throw new Error(`${path} does not contain ${code}`)
  return `${index + 1}:${(lines[index]?.indexOf(code) ?? 0) + 1}`
}
