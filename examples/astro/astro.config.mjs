import node from '@astrojs/node'

export default {
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  // Database drivers cannot be bundled.
  vite: { ssr: { external: ['faultboard'] } },
  // Astro rejects forms, including those of the dashboard, if it does not know its own host names.
  security: { allowedDomains: [{ hostname: 'localhost' }, { hostname: '127.0.0.1' }] },
}
