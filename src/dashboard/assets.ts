import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { TrackerError } from '../model/errors.js'

interface Bundle {
  type: string
  /** The files it is joined from, in this order. */
  files: readonly string[]
  /** How one file stands in the whole. */
  piece(text: string): string
}

const STYLES = [
  'tokens',
  'base',
  'frame',
  'components',
  'charts',
  'list',
  'detail',
  'source',
  'variables',
  'overview',
  'settings',
  'notifications',
  'analytics',
  'insight',
  'process',
]
const SCRIPTS = ['frame', 'copy', 'keyboard', 'list', 'live', 'detail', 'source', 'settings']

const BUNDLES: Readonly<Record<string, Bundle>> = {
  'dashboard.css': {
    type: 'text/css; charset=utf-8',
    files: [...STYLES, 'diagnostics', 'counted', 'swallowed'].map((name) => `css/${name}.css`),
    piece: (text) => text,
  },
  'dashboard.js': {
    type: 'text/javascript; charset=utf-8',
    files: SCRIPTS.map((name) => `js/${name}.js`),
    // A block of its own, so that names of one file mean nothing in the next.
    piece: (text) => `{\n${text}}\n`,
  },
}

const joined = new Map<string, { body: string; version: string }>()

/** One of the files we serve ourselves; the list is closed, so that no name can lead elsewhere. */
export function serveAsset(name: string): Response {
  const bundle = Object.hasOwn(BUNDLES, name) ? BUNDLES[name] : undefined
  if (!bundle) throw new TrackerError('not_found', 'There is no such file.')
  return new Response(asset(name).body, {
    headers: { 'Content-Type': bundle.type, 'Cache-Control': 'private, max-age=31536000, immutable' },
  })
}

/** The address of an asset, which changes with its content. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${asset(name).version}`
}

function asset(name: string): { body: string; version: string } {
  let known = joined.get(name)
  if (!known) {
    const { files = [], piece = String } = BUNDLES[name] ?? {}
    const body = files
      .map((file) => piece(readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8')))
      .join('\n')
    known = { body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) }
    joined.set(name, known)
  }
  return known
}
