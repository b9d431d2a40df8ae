const client = globalThis.Faultboard.start({ endpoint: '/client_errors', app_version: '1.4.0' })
client.setContext({ cart: { items: 2 } })

document.querySelector('#order').addEventListener('click', () => {
  placeOrder()
})

function placeOrder() {
  throw new TypeError('Could not place the order')
}
