import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

/**
 * Routes of `faultboard serve` that fail in different ways, to show how errors look in the dashboard. `steps` are the
 * breadcrumbs of a route before it fails.
 */
export const FAILING_ROUTES = [
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
    run: () => salesReport(),
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

function cartTotal(cart) {
  return cart.items.reduce((sum, { price }) => sum + price, 0)
}

async function printReceipt(order_id) {
  try {
    return await readFile('receipt-template.html', 'utf8')
  } catch (cause) {
    throw new Error(`Could not print the receipt for order ${order_id}`, { cause })
  }
}

async function salesReport() {
  try {
    await setTimeout(10_000, null, { signal: AbortSignal.timeout(50) })
  } catch (cause) {
    // An aborted timer has no frame of this file in its stack.
    throw new Error('The sales report took longer than 50 ms', { cause })
  }
}

async function carrier(name) {
  throw new Error(`Carrier ${name} did not respond`)
}
