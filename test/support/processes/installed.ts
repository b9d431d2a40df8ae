import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'

/** Runs TypeScript sources directly. */
export const TYPESCRIPT = { NODE_OPTIONS: `--import ${pathToFileURL(resolve('node_modules/tsx/dist/loader.mjs'))}` }

/**
 * Folder in which every package of this repository and Faultboard resolve as if installed. A real installation for all
 * hosts would take minutes.
 */
export function installedFolder(): string {
  const root = folderWithPackages()
  symlinkSync(resolve('.'), join(root, 'node_modules/faultboard'))
  return root
}

/** Like `installedFolder`, but with only the files of the published package. */
export function packedFolder(): string {
  const root = folderWithPackages()
  execFileSync('tar', ['-xzf', join(root, packInto(root)), '-C', root])
  renameSync(join(root, 'package'), join(root, 'node_modules/faultboard'))
  return root
}

/** Writes the published package as a file into the folder and returns its name. `npm test` packs it once for all tests. */
export function packInto(folder: string): string {
  const tarball = process.env.FAULTBOARD_TEST_TARBALL
  if (tarball) {
    copyFileSync(tarball, join(folder, basename(tarball)))
    return basename(tarball)
  }
  // The prepack script would rebuild dist while other tests use it.
  const flags = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', flags, { encoding: 'utf8', stdio: 'pipe' })) as [{ filename: string }]
  return packed.filename
}

/** Returns the paths of the files in the published package. */
export function packedFiles(): string[] {
  const tarball = process.env.FAULTBOARD_TEST_TARBALL
  if (tarball) {
    const paths = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    return paths.map((path) => path.replace(/^package\//, ''))
  }
  const flags = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const [packed] = JSON.parse(execFileSync('npm', flags, { encoding: 'utf8', stdio: 'pipe' })) as [
    { files: { path: string }[] },
  ]
  return packed.files.map(({ path }) => path)
}

function folderWithPackages(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'faultboard-installed-')))
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(root, 'node_modules'))
  const names = readdirSync('node_modules').filter((name) => name !== '.package-lock.json' && name !== '.vite')
  for (const name of names) symlinkSync(resolve('node_modules', name), join(root, 'node_modules', name))
  return root
}
