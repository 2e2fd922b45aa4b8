// The square that has the keyboard's focus, framed above everything else: its neighbours would cover its own outline.
export function frameFocus(view) {
  const frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  frame.setAttribute("class", "cursor");
  frame.setAttribute("visibility", "hidden");
  view.svg.append(frame);
  const follow = () => {
    const square = view.svg.querySelector(".square:focus-visible");
    frame.setAttribute("visibility", square ? "visible" : "hidden");
    if (square) for (const name of ["x", "y", "width", "height"]) frame.setAttribute(name, square.getAttribute(name));
  };
  for (const name of ["focusin", "focusout", "keyup", "pointerup"]) view.svg.addEventListener(name, () => setTimeout(follow));
}
