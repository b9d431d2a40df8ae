import { H3, serve } from "h3";

const app = new H3();

app.get("/orders", () => {
  throw new Error("The orders cannot be read");
});

serve(app, { port: process.env.PORT ?? 3000 });
