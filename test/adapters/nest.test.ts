import { describeAdapter } from '../contract/adapter.js'
import { contractHost } from './nest-host.js'

const NO_PREFIX = 'the dashboard stands at mount_path whatever the global prefix is; nest-filters.test.ts shows it'

describeAdapter({
  name: 'NestJS 11 (Express)',
  host: (tracker, variant) => contractHost('express', tracker, variant),
  lacks: { prefix: NO_PREFIX },
})

describeAdapter({
  name: 'NestJS 11 (Fastify)',
  host: (tracker, variant) => contractHost('fastify', tracker, variant),
  lacks: { prefix: NO_PREFIX, parser: 'Fastify parses a body after all middlewares' },
})
