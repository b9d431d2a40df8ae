import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, rmSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

rmSync('dist', { recursive: true, force: true })
compile()
copyAssets('src/dashboard/assets', 'dist/dashboard/assets')
makeExecutable('dist/cli/main.js')

function compile() {
  const { status, error } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(1)
}

function copyAssets(from, to) {
  if (!existsSync(from)) return
  const isAsset = (path) => statSync(path).isDirectory() || ['.css', '.js', '.svg'].includes(extname(path))
  cpSync(from, to, { recursive: true, filter: isAsset })
}

function makeExecutable(path) {
  if (existsSync(path)) chmodSync(path, 0o755)
}
