import { findProduct, thumbnail } from '../catalog/products.js'
import { searchProducts } from '../catalog/search.js'
import { html, layout, money } from '../pages.js'

export function showProduct({ params }, { database }) {
  const product = findProduct(params.sku, database)
  return { page: layout(product.name, html`<p>${money(product.price)}</p>`) }
}

export async function search({ query }, { tracker }) {
  tracker.addBreadcrumb({ category: 'search', message: `Searching for ${query.q}` })
  const found = await searchProducts(query.q)
  return { page: layout('Search', html`<p>${found.length} products</p>`) }
}

export function showImage({ params, query }) {
  const rows = thumbnail({ width: Number(query.w), height: Number(query.h) })
  return { page: layout(params.file, html`<p>${rows.length} rows</p>`) }
}
