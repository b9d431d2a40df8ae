import type { SampleKind } from './kind.js'
import { BILLING } from './kinds/billing.js'
import { MOBILE } from './kinds/mobile.js'
import { ORDERS } from './kinds/orders.js'
import { STOREFRONT } from './kinds/storefront.js'

export interface Release {
  readonly version: string
  readonly days_ago: number
}

/** One of the four applications of a fictional grocer, Larder. */
export interface SampleApplication {
  readonly name: string
  readonly base_url: string
  readonly platform: 'Web' | 'API'
  /** Oldest first. The first release predates the history. */
  readonly releases: readonly Release[]
  /** Share of users who stay on an older version for a while, as on phones. */
  readonly lateUpdateShare: number
  /** Process that recorded the errors. Null for crash reports of phones. */
  readonly host: { hostname: string; pid: number; node_version: string } | null
  readonly kinds: readonly SampleKind[]
}

export const APPLICATIONS: readonly SampleApplication[] = [
  {
    name: 'storefront',
    base_url: 'https://shop.larder.example',
    platform: 'Web',
    releases: releases('5.8.0 97', '5.9.0 71', '5.10.0 44', '5.10.1 42', '5.11.0 20', '5.12.0 6', '5.13.0 0.0139'),
    lateUpdateShare: 0,
    host: { hostname: 'storefront-7c9d', pid: 31, node_version: 'v22.21.0' },
    kinds: STOREFRONT,
  },
  {
    name: 'orders-api',
    base_url: 'https://api.larder.example',
    platform: 'API',
    releases: releases('2.30.0 99', '2.31.0 77', '2.32.0 52', '2.33.0 30', '2.33.1 27', '2.34.0 9', '2.34.1 2'),
    lateUpdateShare: 0,
    host: { hostname: 'orders-api-b41f', pid: 18, node_version: 'v22.21.0' },
    kinds: ORDERS,
  },
  {
    name: 'mobile-gateway',
    base_url: 'https://mobile.larder.example',
    platform: 'API',
    releases: releases('8.2.0 110', '8.3.0 75', '8.4.0 46', '8.4.1 39', '8.5.0 15'),
    lateUpdateShare: 0.3,
    host: null,
    kinds: MOBILE,
  },
  {
    name: 'billing-worker',
    base_url: 'https://billing.larder.example',
    platform: 'API',
    releases: releases('1.18.0 100', '1.19.0 60', '1.20.0 33', '1.21.0 11'),
    lateUpdateShare: 0,
    host: { hostname: 'billing-worker-0', pid: 7, node_version: 'v20.20.2' },
    kinds: BILLING,
  },
]

function releases(...rows: string[]): Release[] {
  return rows.map((row) => {
    const [version = '', days_ago] = row.split(' ')
    return { version, days_ago: Number(days_ago) }
  })
}
