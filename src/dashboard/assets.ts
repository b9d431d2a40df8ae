import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { TrackerError } from '../model/errors.js'

interface Asset {
  type: string
  /** Source files in the order of concatenation. */
  files: readonly string[]
  /** Wraps the text of one source file. */
  wrap?(text: string): string
}

/** Shared style sheets first, then the styles of individual pages. */
const STYLES = [
  ...['tokens', 'base', 'forms', 'frame', 'panels', 'tables', 'figures', 'components', 'charts'],
  ...['list', 'detail', 'source', 'overview', 'settings', 'notifications', 'analytics', 'process', 'diagnostics'],
]
const SCRIPTS = [
  ...[
    'frame',
    'actions',
    'copy',
    'keyboard',
    'palette',
    'list',
    'search',
    'live',
    'detail',
    'source',
    'settings',
    'charts',
  ],
]

const ASSETS: Readonly<Record<string, Asset>> = {
  'dashboard.css': {
    type: 'text/css; charset=utf-8',
    files: STYLES.map((name) => `css/${name}.css`),
  },
  'dashboard.js': {
    type: 'text/javascript; charset=utf-8',
    files: SCRIPTS.map((name) => `js/${name}.js`),
    // Wraps each file in a block, so that its declarations stay local.
    wrap: (text) => `{\n${text}}\n`,
  },
  // The style sheet references the font without a version, so a changed font needs a new name.
  'inter.woff2': { type: 'font/woff2', files: ['fonts/inter.woff2'] },
}

const assetCache = new Map<string, { body: Buffer<ArrayBuffer>; version: string }>()

/** Serves an asset from a fixed list, so that a name cannot escape the assets folder. */
export function serveAsset(name: string): Response {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
  if (!asset) throw new TrackerError('not_found', 'File not found.')
  return new Response(loadAsset(name).body, {
    headers: { 'Content-Type': asset.type, 'Cache-Control': 'private, max-age=31536000, immutable' },
  })
}

/** URL path of an asset. The version changes with the content, so that browsers can cache the asset permanently. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${loadAsset(name).version}`
}

function loadAsset(name: string): { body: Buffer<ArrayBuffer>; version: string } {
  let cached = assetCache.get(name)
  if (!cached) {
    const body = readAsset(name)
    cached = { body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) }
    assetCache.set(name, cached)
  }
  return cached
}

/**
 * Reads the file written by the build. When running from source, and in the build itself, concatenates the source
 * files.
 */
function readAsset(name: string): Buffer<ArrayBuffer> {
  const built = new URL(`./assets/${name}`, import.meta.url)
  if (existsSync(built)) return readFileSync(built)
  const { files = [], wrap } = ASSETS[name] ?? {}
  const sources = files.map((file) => readFileSync(new URL(`./assets/${file}`, import.meta.url)))
  return Buffer.concat(wrap ? sources.map((text) => Buffer.from(wrap(text.toString()))) : sources)
}
