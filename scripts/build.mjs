// node scripts/build.mjs [--no-check]
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const FOR_BROWSERS = ['./dist/browser/client.js', './dist/browser/react/error-boundary.js']

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

rmSync('dist', { recursive: true, force: true })
compile()
await bundleAssets()
bundleLibrary('dist/store/kysely.js', 'kysely')
joinHooks()
joinModules()
bundleForBrowsers()
removePrivateTypes()
chmodSync('dist/cli/main.js', 0o755)

function compile() {
  const args = ['-p', 'tsconfig.build.json', ...(process.argv.includes('--no-check') ? ['--noCheck'] : [])]
  const { status, error } = spawnSync('node_modules/.bin/tsc', args, { stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(1)
}

/** Writes the style sheets and scripts of the dashboard as one file each, as the server would concatenate them. */
async function bundleAssets() {
  cpSync('src/dashboard/assets', 'dist/dashboard/assets', { recursive: true })
  const { serveAsset } = await import('../dist/dashboard/assets.js')
  for (const name of ['dashboard.css', 'dashboard.js']) {
    writeFileSync(`dist/dashboard/assets/${name}`, await serveAsset(name).text())
  }
  for (const folder of ['css', 'js']) rmSync(`dist/dashboard/assets/${folder}`, { recursive: true })
}

/**
 * Replaces the file that re-exports a library of several hundred modules by the bundled library. Names and line breaks are
 * kept, so that stack traces stay readable without a source map.
 */
function bundleLibrary(file, library) {
  buildSync({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    banner: { js: licenseComment(library) },
  })
}

/**
 * Builds the file that is loaded lazily and synchronously, which only CommonJS supports. Contains the libraries that exist
 * only as ES modules.
 */
function joinHooks() {
  buildSync({
    entryPoints: ['dist/diagnostics/swallowed/detection/hooks.js'],
    outfile: 'dist/diagnostics/swallowed/detection/hooks.cjs',
    bundle: true,
    external: ['acorn'],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    banner: { js: ['estree-walker', 'magic-string', '@jridgewell/sourcemap-codec'].map(licenseComment).join('\n') },
  })
}

function licenseComment(library) {
  return `/*!\n${library}, bundled.\n\n${readFileSync(`node_modules/${library}/LICENSE`, 'utf8')}*/`
}

/**
 * Bundles the compiled modules into a few files, because loading a module costs half a millisecond and 60 kB. Code that
 * several entries share becomes a chunk, so that a process loads it once.
 */
function joinModules() {
  const { metafile } = buildSync({
    entryPoints: entryPoints(),
    outdir: 'dist',
    outbase: 'dist',
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'error',
  })
  const written = new Set(Object.keys(metafile.outputs))
  for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    const file = join('dist', name).replaceAll('\\', '/')
    const isOutput = written.has(file) || file.startsWith('dist/dashboard/assets/')
    if (file.endsWith('.js') && !isOutput) rmSync(file)
  }
}

/** Builds the browser client: without Node.js, for older browsers, and as one small file for a script tag. */
function bundleForBrowsers() {
  const shared = {
    bundle: true,
    packages: 'external',
    platform: 'browser',
    target: 'es2018',
    logLevel: 'error',
    tsconfigRaw: {},
  }
  for (const file of FOR_BROWSERS) {
    const entry = file.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
    // Excludes the file from React Server Components.
    const banner = entry.includes('/react/') ? { banner: { js: "'use client'" } } : {}
    buildSync({ ...shared, ...banner, entryPoints: [entry], outfile: file, format: 'esm' })
  }
  buildSync({
    ...shared,
    entryPoints: ['src/browser/script.ts'],
    outfile: 'dist/browser.js',
    format: 'iife',
    minify: true,
  })
}

/** Removes the declarations that no public entry refers to. */
function removePrivateTypes() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const referenced = new Set(Object.values(exports).flatMap(({ types }) => (types ? [join(types)] : [])))
  for (const file of referenced) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?['"](\.[^'"]+)\.js['"]/g)) {
      referenced.add(join(dirname(file), `${path}.d.ts`))
    }
  }
  for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    const file = join('dist', name)
    if (file.endsWith('.d.ts') && !referenced.has(file)) rmSync(file)
  }
}

/** Entries: public exports, programs and lazily loaded modules. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const publicFiles = Object.values(exports)
    .flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default, entry['edge-light']]))
    .filter((file) => file !== undefined && !FOR_BROWSERS.includes(file))
  const own = ['cli/main.js', 'dashboard/handler.js', 'diagnostics/swallowed/detection/loader.js']
  // For scripts, benchmarks and processes that tests start.
  own.push('tracker.js', 'options.js', 'store/database.js', 'store/migrate.js')
  own.push('jobs/engines.js')
  return [...new Set([...publicFiles, ...own.map((file) => `./dist/${file}`)])]
}
