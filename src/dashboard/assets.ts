import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { TrackerError } from '../model/errors.js'

interface Bundle {
  type: string
  /** Source files in the order of concatenation. */
  files: readonly string[]
  /** Wraps the text of one source file. */
  wrap(text: string): string
}

/** Shared style sheets first, then the styles of individual pages. */
const STYLES = [
  ...['tokens', 'base', 'forms', 'frame', 'panels', 'tables', 'figures', 'components', 'charts'],
  ...['list', 'detail', 'source', 'overview', 'settings', 'notifications', 'analytics', 'process', 'diagnostics'],
]
const SCRIPTS = ['frame', 'actions', 'copy', 'keyboard', 'list', 'live', 'detail', 'source', 'settings']

const BUNDLES: Readonly<Record<string, Bundle>> = {
  'dashboard.css': {
    type: 'text/css; charset=utf-8',
    files: STYLES.map((name) => `css/${name}.css`),
    wrap: (text) => text,
  },
  'dashboard.js': {
    type: 'text/javascript; charset=utf-8',
    files: SCRIPTS.map((name) => `js/${name}.js`),
    // Wraps each file in a block, so that its declarations stay local.
    wrap: (text) => `{\n${text}}\n`,
  },
}

const bundleCache = new Map<string, { body: string; version: string }>()

/** Serves a bundle from a fixed list, so that a name cannot escape the assets folder. */
export function serveAsset(name: string): Response {
  const bundle = Object.hasOwn(BUNDLES, name) ? BUNDLES[name] : undefined
  if (!bundle) throw new TrackerError('not_found', 'File not found.')
  return new Response(loadBundle(name).body, {
    headers: { 'Content-Type': bundle.type, 'Cache-Control': 'private, max-age=31536000, immutable' },
  })
}

/** URL path of a bundle. The version changes with the content, so that browsers can cache the bundle permanently. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${loadBundle(name).version}`
}

function loadBundle(name: string): { body: string; version: string } {
  let cached = bundleCache.get(name)
  if (!cached) {
    const body = readBundle(name)
    cached = { body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) }
    bundleCache.set(name, cached)
  }
  return cached
}

/** Reads the bundle that the build has written. From source, and in the build itself, concatenates the files. */
function readBundle(name: string): string {
  const built = new URL(`./assets/${name}`, import.meta.url)
  if (existsSync(built)) return readFileSync(built, 'utf8')
  const { files = [], wrap = String } = BUNDLES[name] ?? {}
  return files.map((file) => wrap(readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8'))).join('\n')
}
