/* The basket on the home page. The demo minifies this file and uploads its source map. */
const client = Faultboard.start({ endpoint: '/client_errors', app_version: '5.13.0' })

/** Shows the number of items. The offer is missing for customers without an account. */
function showBasket(basket) {
  const saved = basket.offer.discount * basket.items
  document.title = `${basket.items} items, saved ${saved}`
}

function updateBasket() {
  client.addBreadcrumb({ category: 'basket', message: 'Added rye bread' })
  showBasket({ items: 3 })
}

document.getElementById('basket').addEventListener('click', updateBasket)
