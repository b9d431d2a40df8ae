/** A frame of a stack written by another program. */
export interface ClientFrame {
  /** Empty for a function without a name. */
  name: string
  /** `https://shop.example/cart.js:1:2`, `Cart.kt:42`, `native` */
  location: string
  /** True if the frame is known to be library code. */
  isLibrary: boolean
}
