import { describeAdapter } from '../contract/adapter.js'
import { createContractHost } from './nest-host.js'

const NO_PREFIX = 'the dashboard ignores the global prefix; see nest-filters.test.ts'

describeAdapter({
  name: 'NestJS 11 (Express)',
  createHost: (tracker, variant) => createContractHost('express', tracker, variant),
  unsupportedVariants: { prefix: NO_PREFIX },
})

describeAdapter({
  name: 'NestJS 11 (Fastify)',
  createHost: (tracker, variant) => createContractHost('fastify', tracker, variant),
  unsupportedVariants: { prefix: NO_PREFIX, parser: 'Fastify parses a body after all middlewares' },
})
