import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

export interface FailingRoute {
  /** Link to the route, with a query if it should show up in the error. */
  link: string
  text: string
  /** Breadcrumbs of the route before it fails. */
  steps: readonly (readonly [category: string, message: string])[]
  run(): unknown
}

/** Routes that fail in different ways, to show how errors look in the dashboard. */
export const FAILING_ROUTES: readonly FailingRoute[] = [
  {
    link: '/cart',
    text: 'A TypeError: reads a property of undefined',
    steps: [
      ['session', 'Restored session for ada'],
      ['sql', 'select * from carts where user_id = ?'],
      ['cart', 'Pricing service returned no items'],
    ],
    run: () => cartTotal({ items: undefined }),
  },
  {
    link: '/sign-in?user=ada&password=correct-horse',
    text: 'A plain Error, in a request whose password is redacted',
    steps: [['http', 'GET https://directory.example/users/ada?api_key=k-123']],
    run: () => {
      throw new Error('Sign-in failed for ada: the directory did not respond')
    },
  },
  {
    link: '/receipt',
    text: 'An error with a cause: a missing file',
    steps: [['sql', 'select * from orders where id = ?']],
    run: () => printReceipt(42),
  },
  {
    link: '/report',
    text: 'A rejected promise: a report that times out',
    steps: [['report', 'Collecting sales for the last year']],
    run: () => setTimeout(10_000, null, { signal: AbortSignal.timeout(50) }),
  },
  {
    link: '/delivery',
    text: 'Several errors at once: no carrier responds',
    steps: [
      ['http', 'POST https://north.example/pickups'],
      ['http', 'POST https://south.example/pickups'],
    ],
    run: () => Promise.any([carrier('north'), carrier('south')]),
  },
  {
    link: '/legacy',
    text: 'A thrown string, which is not an Error',
    steps: [['inventory', 'Querying the legacy inventory']],
    run: () => {
      throw 'legacy inventory rejected the request'
    },
  },
]

function cartTotal(cart: { items?: { price: number }[] | undefined }): number {
  return (cart.items as { price: number }[]).reduce((sum, { price }) => sum + price, 0)
}

async function printReceipt(order_id: number): Promise<string> {
  try {
    return await readFile('receipt-template.html', 'utf8')
  } catch (cause) {
    throw new Error(`Could not print the receipt for order ${order_id}`, { cause })
  }
}

async function carrier(name: string): Promise<never> {
  throw new Error(`Carrier ${name} did not respond`)
}
