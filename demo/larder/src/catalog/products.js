export class ProductNotFoundError extends Error {
  name = 'ProductNotFoundError'
}

export function findProduct(sku, database) {
  const [product] = database.query('select sku, name, price from products where sku = ?', sku)
  if (!product) throw new ProductNotFoundError(`No product "${sku}" in the catalog`)
  return product
}

/** Scales an image. The parameters of the URL are used without a check. */
export function thumbnail({ width, height }) {
  const ratio = width / height
  const rows = new Array(Math.round(width / ratio) - 1)
  return rows.fill(width)
}
