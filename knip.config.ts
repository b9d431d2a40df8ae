import { readFileSync } from 'node:fs'

const { exports, devDependencies } = readJson('package.json') as {
  exports: Record<string, string | Record<string, string | object>>
  devDependencies: object
}
const { dependencies, optionalDependencies } = readJson('bench/package.json') as Record<string, object>
/** Sources of the public entries: `dist/adapters/express.js` is compiled from `src/adapters/express.ts`. */
const publicEntries = Object.values(exports)
  .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
  .filter((file) => typeof file === 'string')
  .filter((file) => file.startsWith('./dist/') && file.endsWith('.js') && file !== './dist/browser.js')
  .map((file) => file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))

export default {
  entry: [
    ...publicEntries,
    'src/cli/main.ts',
    'src/cli/prove/host.ts',
    'src/cli/demo/simulation.ts',
    'src/browser/script.ts',
    // Imported by compiled JSX.
    'src/html/jsx-runtime.ts',
    // Loaded by file name, in a hook thread or before the application.
    'src/diagnostics/swallowed/detection/{hooks,loader,preload}.ts',
    'scripts/*.mjs',
    'scripts/test/unhandled-errors.mjs',
    'bench/*.mjs',
    // Started as processes of their own.
    'bench/**/*-{child,subject}.mjs',
    'test/**/*.test.{ts,tsx}',
    'test/**/fixtures/**',
  ],
  project: ['src/**/*.{ts,tsx}', 'scripts/**/*.mjs', 'bench/**/*.mjs', 'test/**/*.{ts,tsx}'],
  ignore: ['test/cli/init/hosts/**'],
  ignoreDependencies: [
    // Loaded through createRequire, and types of a test dependency.
    ...['express4', 'koa-bodyparser', '@types/smtp-server'],
    // Installed in bench/node_modules.
    ...Object.keys({ ...dependencies, ...optionalDependencies }).filter(
      (name) => !Object.hasOwn(devDependencies, name),
    ),
  ],
  // Its plugin takes the alias `#html`, the source of JSX, for a package.
  typescript: false,
  ignoreBinaries: ['chattr', 'fish', 'mkfifo', 'mount', 'umount', 'unshare', 'openssl', 'script'],
  // The type of a parameter or result is exported with its function, although no other file names the type.
  ignoreExportsUsedInFile: { interface: true, type: true },
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}
