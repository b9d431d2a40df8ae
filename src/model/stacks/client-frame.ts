/** A frame of a stack that another program wrote. */
export interface ClientFrame {
  /** Empty for a function without a name. */
  name: string
  /** `https://shop.example/cart.js:1:2`, `Cart.kt:42`, `native` */
  location: string
  /** Whether it is known to be nobody's own code. */
  is_library: boolean
}
