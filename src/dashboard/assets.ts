import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { TrackerError } from '../model/errors.js'

const TYPES: Record<string, string> = {
  'dashboard.css': 'text/css; charset=utf-8',
  'dashboard.js': 'text/javascript; charset=utf-8',
}

const cache = new Map<string, { body: string; version: string }>()

/** One of the files we serve ourselves; the list is closed, so that no name can lead elsewhere. */
export function serveAsset(name: string): Response {
  const type = TYPES[name]
  if (!Object.hasOwn(TYPES, name) || !type) throw new TrackerError('not_found', 'There is no such file.')
  const { body } = asset(name)
  return new Response(body, {
    headers: { 'Content-Type': type, 'Cache-Control': 'private, max-age=31536000, immutable' },
  })
}

/** The address of an asset, which changes with its content. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${asset(name).version}`
}

function asset(name: string): { body: string; version: string } {
  let known = cache.get(name)
  if (!known) {
    const body = readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
    known = { body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) }
    cache.set(name, known)
  }
  return known
}
