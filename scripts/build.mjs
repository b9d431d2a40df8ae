import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

rmSync('dist', { recursive: true, force: true })
compile()
bundleInPlace('dist/store/kysely.js', 'kysely')
copyAssets('src/dashboard/assets', 'dist/dashboard/assets')
makeExecutable('dist/cli/main.js')

function compile() {
  const { status, error } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(1)
}

/** A library of very many modules becomes part of the one file of ours that re-exports it; its types stay where they are. */
function bundleInPlace(file, library) {
  buildSync({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    banner: { js: `/*\n${library}, bundled.\n\n${readFileSync(`node_modules/${library}/LICENSE`, 'utf8')}*/` },
  })
  rmSync(`${file}.map`)
}

function copyAssets(from, to) {
  if (!existsSync(from)) return
  const isAsset = (path) => statSync(path).isDirectory() || ['.css', '.js', '.svg'].includes(extname(path))
  cpSync(from, to, { recursive: true, filter: isAsset })
}

function makeExecutable(path) {
  if (existsSync(path)) chmodSync(path, 0o755)
}
