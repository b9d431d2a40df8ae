module.exports = (app) => {
  app.get("/orders", async () => {
    throw new Error("The orders cannot be read");
  });
};
