// node scripts/build.mjs [--no-check] [--if-stale]
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'
import { buildSync, transformSync } from 'esbuild'
import { rollup } from 'rollup'
import { TYPESCRIPT_ENVIRONMENT, TYPESCRIPT_FLAGS } from './typescript.mjs'

const BROWSER_ENTRIES = ['./dist/browser/client.js', './dist/browser/react/error-boundary.js']

/**
 * Modules that load together become one chunk, except at startup: the memory that V8 needs while it compiles a file
 * grows with the file, and the process often keeps it. A module belongs to the first chunk that needs it.
 */
const CHUNKS = [
  // Must not load Node.js modules.
  ['edge', ['adapters/next-edge.js']],
  // Shared by the tracker and the command line, so that neither loads the other.
  ['common', ['model/errors.js', 'model/text.js', 'model/version.js']],
  ['command-line', ['cli/main.js']],
  ['redaction', ['model/redaction/redaction.js']],
  ['options', ['config/options.js', 'config/resolve.js']],
  ['capture', ['capture/log-error.js']],
  ['recording', ['store/recording/recorder.js', 'store/spool/spool.js']],
  ['diagnostics', ['diagnostics/diagnostics.js']],
  ['tracker', ['index.js']],
  ['backend', ['backend.js']],
  ['operations', ['lazy-operations.js']],
  ['jobs', ['jobs/handlers.js']],
  ['dashboard', ['dashboard/handler.js', 'dashboard/routes.js']],
]

const PACKAGES = resolve(import.meta.dirname, '../node_modules')

/**
 * Libraries of which only a small part is used: loading all of valibot takes 15 ms, and all of hono takes 4 MB. The
 * last three exist only as ES modules.
 */
const BUNDLED = {
  valibot: `${PACKAGES}/valibot/dist/index.mjs`,
  bowser: `${PACKAGES}/bowser/bowser.mjs`,
  'hono/router/trie-router': `${PACKAGES}/hono/dist/router/trie-router/index.js`,
  'estree-walker': `${PACKAGES}/estree-walker/src/index.js`,
  'magic-string': `${PACKAGES}/magic-string/dist/index.mjs`,
  '@jridgewell/sourcemap-codec': `${PACKAGES}/@jridgewell/sourcemap-codec/dist/sourcemap-codec.mjs`,
}

const COMMONJS = {
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
  hoistTransitiveImports: false,
  // Jest supports `import()` only with a Node.js flag.
  dynamicImportInCjs: false,
  exports: 'named',
  interop: 'auto',
  plugins: [
    {
      name: 'commonjs',
      // The default of Rollup uses the URL of the page if there is a `document`, as in jsdom.
      resolveImportMeta: (property) =>
        property === 'url' ? "require('node:url').pathToFileURL(__filename).href" : null,
      // The command line imports files of the host by URL.
      renderDynamicImport: ({ moduleId, targetModuleId }) =>
        targetModuleId === null && moduleId.includes('/dist/cli/') ? { left: 'import(', right: ')' } : null,
    },
  ],
}

/** Module that compiled JSX imports. */
const JSX_RUNTIME = { '#html/jsx-runtime': resolve(import.meta.dirname, '../dist/html/jsx-runtime.js') }

/** Entries for scripts, benchmarks and processes that tests start. Not in the package. */
const DEVELOPMENT_ENTRIES = ['tracker.js', 'options.js', 'store/database.js', 'store/migrate.js', 'jobs/engines.js']

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

if (process.argv.includes('--if-stale') && isBuildCurrent()) process.exit()
rmSync('dist', { recursive: true, force: true })
compile()
const assets = await bundleAssets()
bundleLibrary('dist/store/kysely.js', 'kysely')
bundleLibrary('dist/diagnostics/source/highlight-js.js', 'highlight.js')
bundleHooks()
const edge = await bundleModules(edgeModules(), { format: 'es', entryFileNames: '[name].js' })
const node = await bundleModules(nodeModules(), COMMONJS)
replaceModules([...edge, ...node, ...node.filter(({ isEntry }) => isEntry).map(reexport)])
writeAssets(assets)
bundleForBrowsers()
removePrivateTypes()
writeTypesForCommonJs()
chmodSync('dist/cli/main.js', 0o755)

/** Returns true if the last build is newer than everything it was built from. */
function isBuildCurrent() {
  // Written at the end of a build.
  const builtAt = statSync('dist/index.d.cts', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((name) => join('src', name))
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs']
  return [...files, ...sources].every((file) => statSync(file).mtimeMs < builtAt)
}

function compile() {
  const flags = [...TYPESCRIPT_FLAGS, ...(process.argv.includes('--no-check') ? ['--noCheck'] : [])]
  const { status, error } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', ...flags], {
    stdio: 'inherit',
    env: TYPESCRIPT_ENVIRONMENT,
  })
  if (error) throw error
  if (status !== 0) process.exit(1)
}

/** Concatenates the style sheets and the scripts of the dashboard as the server does from source. */
async function bundleAssets() {
  cpSync('src/dashboard/assets', 'dist/dashboard/assets', { recursive: true })
  const { serveAsset } = await import('../dist/dashboard/assets.js')
  const bundles = await Promise.all(
    ['dashboard.css', 'dashboard.js'].map(async (name) => [name, await serveAsset(name).text()]),
  )
  rmSync('dist/dashboard/assets', { recursive: true })
  return bundles
}

/** Writes the bundles and fonts where the chunk that contains `dashboard/assets.ts` looks for them. */
function writeAssets(bundles) {
  cpSync('src/dashboard/assets/fonts', 'dist/chunks/assets', { recursive: true })
  for (const [name, text] of bundles) writeFileSync(`dist/chunks/assets/${name}`, text)
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
function bundleHooks() {
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
  const folder = `node_modules/${library}`
  const file = readdirSync(folder).find((name) => /^license(\.md)?$/i.test(name))
  return `/*!\n${library}, bundled.\n\n${readFileSync(join(folder, file), 'utf8')}*/`
}

/** Bundles the compiled modules into a few files, because loading a module costs half a millisecond and 60 KB. */
async function bundleModules(files, options) {
  const aliases = { ...BUNDLED, ...JSX_RUNTIME }
  const bundle = await rollup({
    input: Object.fromEntries(files.map((file) => [file.slice('./dist/'.length, -'.js'.length), file])),
    external: (id) => !/^[./]/.test(id) && !Object.hasOwn(aliases, id),
    plugins: [{ name: 'aliases', resolveId: (id) => aliases[id] ?? null }],
    onLog: (level, { message }) => level === 'warn' && console.warn(message),
  })
  const { output } = await bundle.generate({
    dir: 'dist',
    banner: ({ moduleIds }) => licenseBanner(moduleIds),
    manualChunks: createChunkLookup(),
    ...options,
  })
  return output
}

/**
 * ES module with the names of a CommonJS module. Bundlers do not follow `createRequire`: a bundle that contains the ES
 * module loads the installed package by its name. In CommonJS, a bundle has no `import.meta.url`. The function is never
 * called, but Nitro (`require`) and Next.js (`import`) read it to find the file to copy.
 */
function reexport({ fileName, exports, code }) {
  const file = `./dist/${fileName}`
  const [subpath] = Object.entries(packageExports()).find(([, entry]) => entry.require?.default === file) ?? []
  const name = subpath ? `faultboard${subpath.slice(1)}` : `./${basename(fileName)}`
  const lines = [
    ...(code.match(/^#!.*/) ?? []),
    "import { createRequire } from 'node:module'",
    "const require = createRequire(import.meta.url ?? process.cwd() + '/')",
    `const module = require('${name}')`,
    `const copied = () => [require('./${basename(fileName)}'), import('./${basename(fileName)}')]`,
    ...exports.map((key) =>
      key === 'default' ? 'export default module.default' : `export const ${key} = module.${key}`,
    ),
  ]
  return { fileName: fileName.replace(/cjs$/, 'js'), code: `${lines.join('\n')}\n` }
}

function replaceModules(output) {
  for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.js')) rmSync(join('dist', name))
  }
  for (const { fileName, code } of output) {
    mkdirSync(dirname(join('dist', fileName)), { recursive: true })
    const compact = transformSync(code, { target: 'node20', legalComments: 'inline' }).code
    writeFileSync(join('dist', fileName), escapeWideCharacters(removeComments(compact)))
  }
}

/** Removes the comments that esbuild keeps, such as those inside classes. Keeps licenses and hints for bundlers. */
function removeComments(code) {
  const parts = []
  let position = 0
  const onComment = (isBlock, text, start, end) => {
    if (isBlock ? !text.startsWith('*') : code.startsWith('#!', start)) return
    parts.push(code.slice(position, start).trimEnd())
    position = end
  }
  parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onComment })
  return parts.join('') + code.slice(position)
}

/**
 * A single character outside Latin-1 makes V8 store a source file with two bytes per character and scan it more slowly.
 * esbuild escapes such characters in strings only, not in regular expressions and template literals. A character after
 * a backslash stays, because its escape sequence would change the meaning; a test of the package then fails.
 */
function escapeWideCharacters(code) {
  return code.replace(/(?<!\\)[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function licenseBanner(modules) {
  const paths = modules.filter((id) => id.startsWith(PACKAGES)).map((id) => id.slice(PACKAGES.length + 1))
  const libraries = paths.map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)[0])
  return [...new Set(libraries)].map(licenseComment).join('\n')
}

function createChunkLookup() {
  let chunks
  return (id, { getModuleInfo }) => {
    chunks ??= assignChunks(getModuleInfo)
    return chunks.get(id)
  }
}

function assignChunks(getModuleInfo) {
  const chunks = new Map()
  const sharedModules = new Set(DEVELOPMENT_ENTRIES.map((file) => resolve('dist', file)))
  for (const [name, files] of CHUNKS) {
    for (const id of staticImports(files, getModuleInfo)) {
      // An entry of the package keeps its own file. Otherwise a chunk could load and start the command line.
      if (!chunks.has(id) && (sharedModules.has(id) || !getModuleInfo(id)?.isEntry)) chunks.set(id, name)
    }
  }
  return chunks
}

/** Returns the files and all their static imports, direct and indirect. */
function staticImports(files, getModuleInfo) {
  const found = new Set(files.map((file) => resolve('dist', file)))
  for (const id of found) for (const imported of getModuleInfo(id)?.importedIds ?? []) found.add(imported)
  return [...found]
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
  for (const file of BROWSER_ENTRIES) {
    const entry = file.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
    // Excludes the file from React Server Components.
    const banner = entry.includes('/react/') ? { banner: { js: "'use client'" } } : {}
    buildSync({ ...shared, ...banner, entryPoints: [entry], outfile: file, format: 'esm' })
    buildSync({ ...shared, ...banner, entryPoints: [entry], outfile: file.replace(/js$/, 'cjs'), format: 'cjs' })
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
  const referenced = new Set(publicEntries().map(({ types }) => join(types)))
  for (const file of referenced) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?['"](\.[^'"]+)\.js['"]/g)) {
      referenced.add(join(dirname(file), `${path}.d.ts`))
    }
  }
  for (const file of typeFiles()) if (!referenced.has(file)) rmSync(file)
}

/** TypeScript reads declarations for `require` from files with their own extension. */
function writeTypesForCommonJs() {
  for (const file of typeFiles()) {
    const types = readFileSync(file, 'utf8').replace(/(['"])(\.[^'"]+)\.js\1/g, '$1$2.cjs$1')
    writeFileSync(file.replace(/ts$/, 'cts'), types)
  }
}

function typeFiles() {
  const names = readdirSync('dist', { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.d.ts')).map((name) => join('dist', name))
}

/** Entries for Node.js: public exports, programs and files that are loaded by name. */
function nodeModules() {
  const modules = publicEntries().map(({ default: file }) => file)
  const internalModules = [
    'cli/main.js',
    'cli/demo/simulation.js',
    'cli/prove/host.js',
    'dashboard/handler.js',
    'diagnostics/swallowed/detection/loader.js',
  ]
  return [
    ...modules.filter((file) => !BROWSER_ENTRIES.includes(file)),
    ...[...internalModules, ...DEVELOPMENT_ENTRIES].map((file) => `./dist/${file}`),
  ]
}

/** Entries for runtimes without Node.js modules, which load ES modules only. */
function edgeModules() {
  return publicEntries().flatMap((entry) => entry['edge-light'] ?? [])
}

function publicEntries() {
  return Object.values(packageExports()).filter((entry) => typeof entry === 'object')
}

function packageExports() {
  return JSON.parse(readFileSync('package.json', 'utf8')).exports
}
