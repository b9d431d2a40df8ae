import { fileURLToPath } from 'node:url'

// The packages of the hosts lie above this folder.
const root = fileURLToPath(new URL('../../../..', import.meta.url))

export default {
  basePath: process.env.HOST_BASE_PATH ?? '',
  serverExternalPackages: ['faultboard'],
  turbopack: { root },
  outputFileTracingRoot: root,
  // Saves a third of the build. test/examples/next-standalone.test.ts builds with the defaults of Next.js.
  experimental: { turbopackMinify: false, turbopackSourceMaps: false, turbopackFileSystemCacheForBuild: false },
}
