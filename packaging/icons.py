"""Draw the program's icon in the form that the system asks for: ``.ico``, ``.iconset``, PNG.

    python packaging/icons.py FOLDER

Runs in the build's environment: Qt draws, and writes ``.ico``; macOS makes its ``.icns`` of the
folder (``iconutil``), elsewhere the folder is left as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parents[1] / "resources/ui/icons/app.svg"
SIZES = (16, 32, 128, 256, 512)


def drawn(renderer: QSvgRenderer, side: int) -> QImage:
    """Draw the icon on a square of so many pixels."""
    image = QImage(side, side, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return image


def main(folder: Path) -> None:
    """Write the icons into a folder, which is made."""
    application = QGuiApplication(sys.argv[:1])
    renderer = QSvgRenderer(str(DRAWING))
    iconset = folder / "app.iconset"
    iconset.mkdir(parents=True, exist_ok=True)
    pictures = [(folder / "app.ico", 256)]
    for side in SIZES:
        pictures.append((iconset / f"icon_{side}x{side}.png", side))
        pictures.append((iconset / f"icon_{side}x{side}@2x.png", 2 * side))
    for file, side in pictures:
        if not drawn(renderer, side).save(str(file)):
            sys.exit(f"{file} could not be written.")
    if shutil.which("iconutil"):
        subprocess.run(["iconutil", "-c", "icns", iconset, "-o", folder / "app.icns"], check=True)
    del application


if __name__ == "__main__":
    main(Path(sys.argv[1]))
